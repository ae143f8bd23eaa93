//! What `strew indexing --json` prints. The keys are stable; more may be added.

use crate::cli::args::TileSizes;
use serde::Serialize;
use std::fmt::Write as _;
use strew::ir::operation::{
    ArrayShape, ElementMaps, Input, KnownMaps, Module, PartMap, Shape, coalescing, tile,
    utilization,
};

/// The maps of an instruction, and where it stands.
pub(crate) struct Placed {
    /// The name of its computation.
    pub(crate) computation: Option<String>,
    /// Whether the maps are those of the whole computation.
    pub(crate) is_fused: bool,
    pub(crate) maps: ElementMaps,
    /// The maps to the parameters of the computation, where they are others than those to the
    /// operands.
    pub(crate) through: Option<ElementMaps>,
}

#[derive(Serialize)]
pub(crate) struct IndexingReport {
    pub(crate) instructions: Vec<InstructionReport>,
}

/// Maps stand as text; `null` in place of a list of maps says that it is not known how elements
/// depend on each other.
#[derive(Serialize)]
pub(crate) struct InstructionReport {
    name: String,
    computation: Option<String>,
    operands: Vec<String>,
    output_to_input: Vec<OutputReport>,
    input_to_output: Vec<InputReport>,
    /// What is read of the parameters, where some operand is computed itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<Vec<ParameterReport>>,
}

/// All lists have one entry for each operand.
#[derive(Serialize)]
struct OutputReport {
    output: usize,
    operands: Vec<MapsReport>,
    /// Where the runtime variables of each map come from.
    runtime: Vec<Option<Vec<Vec<RuntimeReport>>>>,
    /// Whether all of what each map speaks of is read for sure.
    exact: Vec<Option<Vec<bool>>>,
    /// Which of the arrays of the operand each map leads to.
    parts: Vec<Option<Vec<usize>>>,
    #[serde(flatten)]
    usage: Option<UsageReport>,
}

#[derive(Serialize)]
struct UsageReport {
    utilization: Vec<Option<f64>>,
    coalesced: Vec<Vec<CoalescingReport>>,
    tiles: Vec<Vec<Option<TileReport>>>,
}

#[derive(Serialize)]
struct InputReport {
    input: usize,
    outputs: Vec<MapsReport>,
    runtime: Vec<Option<Vec<Vec<RuntimeReport>>>>,
}

#[derive(Serialize)]
struct ParameterReport {
    name: String,
    /// For each output.
    output_to_input: Vec<MapsReport>,
    input_to_output: Vec<MapsReport>,
    /// Where the runtime variables of each map come from.
    runtime: BothWays<Option<Vec<Vec<RuntimeReport>>>>,
    exact: Vec<Option<Vec<bool>>>,
    parts: Vec<Option<Vec<usize>>>,
}

/// What stands beside the maps of both directions, for each output.
#[derive(Serialize)]
struct BothWays<T> {
    output_to_input: Vec<T>,
    input_to_output: Vec<T>,
}

type MapsReport = Option<Vec<String>>;

#[derive(Serialize)]
struct RuntimeReport {
    name: String,
    /// The instruction whose value it is read from; inside of a call as `call/name`.
    operand: String,
    map: String,
    /// The bounds that the value is moved into; without them a value outside of the variable's
    /// bounds reads nothing.
    clamp: Option<[i64; 2]>,
}

#[derive(Serialize)]
struct CoalescingReport {
    /// The results that change between neighbours in memory.
    fastest: Vec<usize>,
    /// How far apart in memory is what two neighbours read.
    stride: Option<i64>,
}

#[derive(Serialize)]
struct TileReport {
    offsets: Vec<String>,
    sizes: Vec<i64>,
    strides: Vec<i64>,
    whole: bool,
}

impl InstructionReport {
    pub(crate) fn of(module: &Module, placed: &Placed, sizes: Option<&TileSizes>) -> Self {
        let maps = &placed.maps;
        let outputs = maps.output_to_input.iter().enumerate();
        let output_to_input = outputs.map(|(output, operands)| OutputReport {
            output,
            operands: operands.iter().map(texts).collect(),
            runtime: operands.iter().map(|it| runtime(module, it)).collect(),
            exact: operands
                .iter()
                .map(|it| each(it, |it| it.indexing.is_exact()))
                .collect(),
            parts: operands.iter().map(|it| each(it, |it| it.part)).collect(),
            usage: sizes.map(|sizes| UsageReport::of(maps, output, sizes)),
        });
        let inputs = maps.input_to_output.iter().enumerate();
        let input_to_output = inputs.map(|(input, outputs)| InputReport {
            input,
            outputs: outputs.iter().map(texts).collect(),
            runtime: outputs.iter().map(|it| runtime(module, it)).collect(),
        });
        Self {
            name: maps.name.clone(),
            computation: placed.computation.clone(),
            operands: maps.inputs.iter().map(|it| it.name.clone()).collect(),
            output_to_input: output_to_input.collect(),
            input_to_output: input_to_output.collect(),
            parameters: placed.through.as_ref().map(|it| parameters(module, it)),
        }
    }

    /// What `--tile` adds, for people.
    pub(crate) fn usage_text(maps: &ElementMaps, sizes: &TileSizes) -> String {
        let mut text = String::new();
        for output in 0..maps.output_to_input.len() {
            let usage = UsageReport::of(maps, output, sizes);
            let shares = maps.inputs.iter().zip(&usage.utilization);
            let rest = usage.coalesced.iter().zip(&usage.tiles);
            for ((input, share), (coalesced, tiles)) in shares.zip(rest) {
                // Writing to a `String` does not fail.
                let _ = match share {
                    Some(share) => {
                        writeln!(text, "  {}: {:.1}% is read", input.name, share * 100.0)
                    }
                    None => writeln!(text, "  {}: how much is read is not known", input.name),
                };
                for (coalesced, tile) in coalesced.iter().zip(tiles) {
                    text += &coalesced.text();
                    text += &TileReport::text(tile.as_ref());
                }
            }
        }
        text
    }
}

fn each<T>(known: &KnownMaps, of: impl Fn(&PartMap) -> T) -> Option<Vec<T>> {
    let maps = known.as_ref()?;
    Some(maps.iter().map(of).collect())
}

fn texts(known: &KnownMaps) -> MapsReport {
    each(known, |it| it.indexing.map().to_string())
}

fn runtime(module: &Module, known: &KnownMaps) -> Option<Vec<Vec<RuntimeReport>>> {
    each(known, |it| {
        let sources = it.indexing.runtime().into_iter().enumerate();
        let sources = sources.map(|(at, source)| RuntimeReport {
            name: format!("rt{at}"),
            operand: module.name_of(&source.value),
            map: source.map.to_string(),
            clamp: source.clamp.map(|it| [it.low, it.high]),
        });
        sources.collect()
    })
}

fn parameters(module: &Module, maps: &ElementMaps) -> Vec<ParameterReport> {
    let inputs = maps.inputs.iter().enumerate();
    let reports = inputs.map(|(at, input)| {
        let to = maps.output_to_input.iter().filter_map(|it| it.get(at));
        let from = maps.input_to_output.get(at).into_iter().flatten();
        ParameterReport {
            name: input.name.clone(),
            output_to_input: to.clone().map(texts).collect(),
            input_to_output: from.clone().map(texts).collect(),
            runtime: BothWays {
                output_to_input: to.clone().map(|it| runtime(module, it)).collect(),
                input_to_output: from.map(|it| runtime(module, it)).collect(),
            },
            exact: to
                .clone()
                .map(|it| each(it, |it| it.indexing.is_exact()))
                .collect(),
            parts: to.map(|it| each(it, |it| it.part)).collect(),
        }
    });
    reports.collect()
}

impl UsageReport {
    fn of(maps: &ElementMaps, output: usize, sizes: &TileSizes) -> Self {
        let shapes = maps.outputs();
        let operands = maps.output_to_input.get(output);
        let operands: Vec<_> = maps
            .inputs
            .iter()
            .zip(operands.into_iter().flatten())
            .collect();
        let shares = maps.inputs.iter().enumerate().map(|(at, input)| {
            let known = maps.output_to_input.iter().filter_map(|it| it.get(at));
            // What leaves 64 bits is not found.
            utilization(&input.shape, &known.collect::<Vec<_>>())
                .ok()
                .flatten()
        });
        let from = shapes.get(output).copied();
        let coalesced = operands.iter().map(|(input, known)| {
            let maps = known.iter().flatten();
            let facts = maps.filter_map(|it| CoalescingReport::of(from?, input, it));
            facts.collect()
        });
        let tiles = operands.iter().map(|(_, known)| {
            let maps = known.iter().flatten();
            maps.map(|it| TileReport::of(it, from?, sizes)).collect()
        });
        Self {
            utilization: shares.collect(),
            coalesced: coalesced.collect(),
            tiles: tiles.collect(),
        }
    }
}

impl CoalescingReport {
    fn of(from: &ArrayShape, input: &Input, map: &PartMap) -> Option<Self> {
        let to = part(&input.shape, map.part)?;
        let facts = coalescing(&map.indexing, from, to).ok();
        let facts = facts.map(|it| (it.fastest, it.stride));
        let (fastest, stride) = facts.unwrap_or_default();
        Some(Self { fastest, stride })
    }

    fn text(&self) -> String {
        match self.stride {
            Some(0) => "    neighbours read the same element\n".to_owned(),
            Some(1) => "    neighbours read neighbours\n".to_owned(),
            Some(stride) => format!("    neighbours read elements that are {stride} apart\n"),
            None => "    how far apart neighbours read is not always the same\n".to_owned(),
        }
    }
}

fn part(shape: &Shape, part: usize) -> Option<&ArrayShape> {
    shape.leaves().get(part).copied()
}

impl TileReport {
    fn of(map: &PartMap, from: &ArrayShape, sizes: &TileSizes) -> Option<Self> {
        let tile = tile(&map.indexing, &from.extents, &sizes.0);
        let tile = tile.ok().flatten()?;
        Some(Self {
            offsets: tile.offsets.iter().map(ToString::to_string).collect(),
            sizes: tile.sizes,
            strides: tile.strides,
            whole: tile.is_whole,
        })
    }

    fn text(tile: Option<&Self>) -> String {
        match tile {
            Some(tile) => format!(
                "    a tile reads sizes {:?} with strides {:?} from ({})\n",
                tile.sizes,
                tile.strides,
                tile.offsets.join(", ")
            ),
            None => "    a tile does not read a box\n".to_owned(),
        }
    }
}
