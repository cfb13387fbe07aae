//! Whether a stack reaches the start of its thread.

use rustc_demangle::demangle;

/// Whether a stack, outermost frame first, starts where threads start. One that does not was cut and
/// sits at the wrong place.
///
/// A stripped C library has no names for its own frames outside the thread's first function: skip
/// frames such as `[libc.so.6]`.
pub fn is_rooted(stack: &[String]) -> bool {
    stack.iter().find(|frame| !is_nameless_runtime(frame)).is_some_and(|frame| starts(frame))
}

/// A nameless frame of the C library or of the dynamic linker.
fn is_nameless_runtime(frame: &str) -> bool {
    ["[libc.", "[libc-", "[libpthread", "[ld-", "[libdyld"].iter().any(|it| frame.starts_with(it))
}

/// The first functions of threads: of glibc, musl, the dynamic linker, macOS, Go, Node, Java and
/// Python.
const STARTS: &str = "start start_c dl_start_user main clone clone3 start_thread thread_start \
    pthread_start runtime.goexit runtime.mstart runtime.mcall runtime.morestack \
    runtime.systemstack runtime.rt0_go node::Start thread_native_entry Py_BytesMain \
    pythread_wrapper";

/// Whether a thread starts here, with any number of underscores in front, because `samply` drops one.
/// `ret_from_fork` is the kernel's side of a thread that has not run a line of its own yet.
fn starts(frame: &str) -> bool {
    let name = format!("{:#}", demangle(frame.trim_end_matches("_[k]")));
    let name = name.split('@').next().unwrap_or_default().trim_start_matches('_');
    // The calling convention of a Go function.
    let name = name.trim_end_matches(".abi0");
    STARTS.split_whitespace().any(|start| start == name)
        || name.ends_with("::thread_start")
        || ["libc_start_", "ret_from_fork"].iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::is_rooted;

    #[test]
    fn only_stacks_from_the_start_of_a_thread_are_rooted() {
        let rooted =
            |stack: &&str| is_rooted(&stack.split(';').map(str::to_owned).collect::<Vec<_>>());
        for stack in [
            "clone3;start_thread;work",
            "_start;__libc_start_main@@GLIBC_2.34;main",
            "__libc_start_call_main;main",
            "ret_from_fork_asm_[k];schedule_tail_[k]",
            "start;main",
            "_clone3;start_thread",
            "[libc.so.6];[libc.so.6];<std::sys::thread::unix::Thread>::new::thread_start",
            "[libc-2.31.so];main;work",
            "runtime.goexit.abi0;net/http.(*Server).Serve.gowrap3;net/http.(*conn).serve",
            "runtime.mcall;runtime.park_m",
            "[libc.so.6];node::Start;node::NodeMainInstance::Run",
        ] {
            assert!(rooted(&stack), "{stack}");
        }
        for stack in ["tokio::task::poll;work", "[libc.so.6]", "[unknown];main", "do_exit_[k]"] {
            assert!(!rooted(&stack), "{stack}");
        }
    }
}
