//! `strew indexing`: which elements of its operands an operation on arrays reads, as indexing maps.

use crate::cli::args::{Indexing, TileSizes};
use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::cli::indexing_report::{IndexingReport, InstructionReport, Placed};
use crate::cli::{load, report};
use std::fmt::Write as _;
use std::sync::Arc;
use strew::ir::operation::{Analysis, ElementMaps, KnownMaps, Module, ModuleError};
use strew::{Diagnostic, Diagnostics, Source};

pub(crate) fn indexing(flags: &Indexing, console: &mut Console) -> Result<(), Failure> {
    let source = Arc::new(load::source(&flags.file)?);
    let module = match Module::parse(source.text()) {
        Ok(module) => module,
        Err(errors) => return diagnosed(flags, &source, errors, console),
    };
    let instructions = match instructions(flags, &module) {
        Ok(instructions) => instructions,
        Err(error) => return diagnosed(flags, &source, vec![error], console),
    };
    expect_tile_rank(flags, &instructions)?;
    let tile = flags.tile.as_ref();
    if flags.json {
        let reports = instructions
            .iter()
            .map(|it| InstructionReport::of(&module, it, tile));
        let instructions = reports.collect();
        return console.data(&report::json(&IndexingReport { instructions }));
    }
    let texts: Vec<_> = instructions
        .iter()
        .map(|it| text(&module, it, tile))
        .collect();
    console.data(&texts.join("\n"))
}

/// The errors where they can be seen, and the exit status that says so.
fn diagnosed(
    flags: &Indexing,
    source: &Arc<Source>,
    errors: Vec<ModuleError>,
    console: &mut Console,
) -> Result<(), Failure> {
    let list = errors
        .into_iter()
        .map(|error| Diagnostic::error(error.to_string(), error.span));
    let diagnostics = Diagnostics::new(Arc::clone(source), list.collect());
    if flags.json {
        console.data(&report::diagnostics(&diagnostics))?;
    }
    console.talk(&diagnostics.render(console.style()));
    Err(Failure::Diagnosed)
}

/// The maps that are asked for: of every instruction, or of the root.
fn instructions(flags: &Indexing, module: &Module) -> Result<Vec<Placed>, ModuleError> {
    let mut analysis = Analysis::new(module);
    if !flags.all {
        return root(module, &mut analysis).map(|it| vec![it]);
    }
    let mut placed = Vec::new();
    for (at, computation) in module.computations().iter().enumerate() {
        for position in 0..computation.instructions().len() {
            placed.push(Placed {
                computation: computation.name().map(str::to_owned),
                is_fused: false,
                maps: analysis.of_instruction(at, position)?,
                through: None,
            });
        }
    }
    Ok(placed)
}

/// The root, and, where it has operands that are computed themselves, what it reads of the
/// parameters.
fn root(module: &Module, analysis: &mut Analysis<'_>) -> Result<Placed, ModuleError> {
    let maps = analysis.root()?;
    let entry = module.computations().get(module.entry());
    let is_computed = |name: &str| {
        let instructions = entry.into_iter().flat_map(|it| it.instructions());
        let mut found = instructions.filter(|it| it.name() == name);
        found.any(|it| !it.operands().is_empty())
    };
    let through = if maps.inputs.iter().any(|it| is_computed(&it.name)) {
        Some(analysis.of_computation(module.entry())?)
    } else {
        None
    };
    Ok(Placed {
        computation: entry.and_then(|it| it.name()).map(str::to_owned),
        is_fused: entry.is_some_and(|it| it.name().is_some() && !it.is_entry()),
        maps,
        through,
    })
}

/// A tile of another rank is a slip, unless it is for whatever instructions it fits.
fn expect_tile_rank(flags: &Indexing, instructions: &[Placed]) -> Result<(), Failure> {
    let (Some(tile), false, [placed]) = (&flags.tile, flags.all, instructions) else {
        return Ok(());
    };
    let ranks: Vec<_> = placed.maps.outputs().iter().map(|it| it.rank()).collect();
    if ranks.contains(&tile.0.len()) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "--tile gives {} sizes, but `{}` is {}",
        tile.0.len(),
        placed.maps.name,
        placed.maps.shape
    )))
}

/// One instruction for people.
fn text(module: &Module, placed: &Placed, tile: Option<&TileSizes>) -> String {
    let maps = &placed.maps;
    let operands: Vec<_> = maps.inputs.iter().map(|it| it.name.as_str()).collect();
    let what = match &placed.computation {
        Some(name) if placed.is_fused => name,
        _ => &maps.opcode,
    };
    let mut text = format!("{} = {} {what}", maps.name, maps.shape);
    if !operands.is_empty() {
        let _ = write!(text, "({})", operands.join(", "));
    }
    text.push('\n');
    directions(module, maps, tile, &mut text);
    if let Some(through) = &placed.through {
        let mut inner = String::new();
        directions(module, through, None, &mut inner);
        text += "  through all instructions:\n";
        for line in inner.lines() {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}

fn directions(module: &Module, maps: &ElementMaps, tile: Option<&TileSizes>, text: &mut String) {
    let count = maps.output_to_input.len();
    let output_name = |output: usize| match count {
        1 => "output".to_owned(),
        _ => format!("output {output}"),
    };
    for (output, operands) in maps.output_to_input.iter().enumerate() {
        for (input, known) in maps.inputs.iter().zip(operands) {
            let head = format!("{} -> {}", output_name(output), input.name);
            listed(module, &head, known, text);
        }
    }
    if let Some(tile) = tile {
        let report = InstructionReport::usage_text(maps, tile);
        *text += &report;
    }
    for (input, outputs) in maps.inputs.iter().zip(&maps.input_to_output) {
        for (output, known) in outputs.iter().enumerate() {
            let head = format!("{} -> {}", input.name, output_name(output));
            listed(module, &head, known, text);
        }
    }
}

/// Writing to a `String` does not fail.
fn listed(module: &Module, head: &str, known: &KnownMaps, text: &mut String) {
    let _ = match known {
        None => writeln!(text, "  {head}: not known"),
        Some(maps) if maps.is_empty() => writeln!(text, "  {head}: nothing"),
        Some(_) => Ok(()),
    };
    for it in known.iter().flatten() {
        let part = match it.part {
            0 => String::new(),
            part => format!(" (array {part})"),
        };
        let _ = writeln!(text, "  {head}{part}: {}", it.indexing.map());
        for (at, source) in it.indexing.runtime().iter().enumerate() {
            let name = module.name_of(&source.value);
            let _ = writeln!(text, "    rt{at} is read from {name}: {}", source.map);
        }
    }
}
