use crate::abi::{Call, ForallCall, Status};
use crate::failure::Failure;
use crate::session::Session;
use crate::strategy;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What generated code calls for a forall: runs it by the strategy that fits, and returns a
/// [`Status`].
///
/// With any other status than [`Status::Done`] nothing was merged, and the targets are as they were
/// unless the forall is [`guarded`](ForallCall::guarded).
///
/// # Safety
/// * `call` is the state that [`run`](crate::run) or a strategy handed to the generated function
///   that calls this.
/// * `forall` and the tables behind it are valid until this returns, and its functions keep what
///   [`abi`](crate::abi) says.
/// * The keys of what it [gathers](ForallCall::gathers) are as many as it says, of integers of
///   their size, and nobody writes them.
/// * The body may run on several threads at the same time with different iterations: it writes
///   nothing but its private buffers and what no other iteration touches. The targets are not
///   touched by the body.
#[unsafe(export_name = "strew_run_forall")]
pub unsafe extern "C" fn run_forall(call: *mut Call, forall: *const ForallCall) -> u32 {
    // SAFETY: the caller vouches for both; the session outlives all generated code of its call.
    let (call, forall) = unsafe { (&mut *call, &*forall) };
    // SAFETY: every `Call` is made by `Session::call`, with the address of a session that lives as
    // long.
    let session = unsafe { &*call.session.cast::<Session<'_>>() };
    session.begin_work(forall);
    // A panic must not cross generated code, which could not unwind.
    // SAFETY: the caller vouches for the forall.
    let ran = catch_unwind(AssertUnwindSafe(|| unsafe {
        strategy::run(session, call, forall)
    }));
    let ran = ran.unwrap_or_else(|panic| Err(Failure::Panicked(message(&*panic))));
    let status = match ran {
        Ok(()) => Status::Done,
        Err(failure) => session.report(call, failure),
    };
    status as u32
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without a message").to_owned()
}
