//! What the operations do, one file for each family: which operands they take, what shape comes
//! out, what is read.

mod bitcast;
mod broadcast;
mod concatenate;
mod convolution;
mod dot;
mod dynamic_slice;
mod elementwise;
mod gather;
mod pad;
mod permute;
mod reduce;
mod reduce_window;
mod reshape;
mod scatter;
mod slice;
mod sort;
mod tuple;

use super::call::{Call, Checked, Described};

type Describe = fn(&Call<'_, '_, '_>) -> Checked<Described>;

/// What the operation called `opcode` does.
pub(super) fn describe(opcode: &str) -> Option<Describe> {
    let known: Describe = match opcode {
        "bitcast" => bitcast::bitcast,
        "bitcast-convert" => bitcast::bitcast_convert,
        "broadcast" => broadcast::broadcast,
        "concatenate" => concatenate::concatenate,
        "convolution" => convolution::convolution,
        "dot" => dot::dot,
        "dynamic-slice" => dynamic_slice::dynamic_slice,
        "dynamic-update-slice" => dynamic_slice::dynamic_update_slice,
        "gather" => gather::gather,
        "get-tuple-element" => tuple::get_tuple_element,
        "optimization-barrier" => tuple::pass,
        "pad" => pad::pad,
        "reduce" => reduce::reduce,
        "reduce-window" => reduce_window::reduce_window,
        "reshape" => reshape::reshape,
        "reverse" => permute::reverse,
        "scatter" => scatter::scatter,
        "slice" => slice::slice,
        "sort" => sort::sort,
        "topk" => sort::topk,
        "transpose" => permute::transpose,
        "tuple" => tuple::tuple,
        _ if elementwise::is_elementwise(opcode) => elementwise::elementwise,
        _ => return None,
    };
    Some(known)
}

/// The operations that [`describe`] knows, for whoever misspelt one.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    const OTHERS: [&str; 22] = [
        "bitcast",
        "bitcast-convert",
        "broadcast",
        "concatenate",
        "convolution",
        "dot",
        "dynamic-slice",
        "dynamic-update-slice",
        "gather",
        "get-tuple-element",
        "optimization-barrier",
        "pad",
        "reduce",
        "reduce-window",
        "reshape",
        "reverse",
        "scatter",
        "slice",
        "sort",
        "topk",
        "transpose",
        "tuple",
    ];
    OTHERS.into_iter().chain(elementwise::names())
}
