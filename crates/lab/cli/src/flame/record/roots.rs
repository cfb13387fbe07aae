//! Where a stack begins: the frames that start a thread.

use rustc_demangle::demangle;

/// Whether a stack, outermost frame first, reaches the start of its thread: one that does not was
/// cut, and hangs at the wrong place.
///
/// Where the C library is stripped, its own frames outside the thread's first function have no
/// names but `[libc.so.6]`; they are passed over.
pub(super) fn is_rooted(stack: &[String]) -> bool {
    stack.iter().find(|frame| !is_nameless_runtime(frame)).is_some_and(|frame| starts(frame))
}

/// A frame of the C library or of the dynamic linker that has no name.
fn is_nameless_runtime(frame: &str) -> bool {
    ["[libc.", "[libc-", "[libpthread", "[ld-", "[libdyld"].iter().any(|it| frame.starts_with(it))
}

/// Whether a thread starts here. The names are those of glibc, musl, the dynamic linker, macOS and
/// Rust; `ret_from_fork` is the kernel's side of a thread that has not run a line of its own yet.
fn starts(frame: &str) -> bool {
    let name = format!("{:#}", demangle(frame.trim_end_matches("_[k]")));
    let name = name.split('@').next().unwrap_or_default();
    matches!(
        name,
        "_start"
            | "start"
            | "_start_c"
            | "_dl_start_user"
            | "main"
            | "clone"
            | "__clone"
            | "clone3"
            | "__clone3"
            | "start_thread"
            | "thread_start"
            | "_pthread_start"
    ) || name.ends_with("::thread_start")
        || name.starts_with("__libc_start_")
        || name.starts_with("libc_start_main")
        || name.starts_with("ret_from_fork")
}

#[cfg(test)]
mod tests {
    use super::is_rooted;

    fn rooted(stack: &str) -> bool {
        is_rooted(&stack.split(';').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn threads_start_in_the_c_library() {
        for stack in [
            "clone3;start_thread;work",
            "_start;__libc_start_main@@GLIBC_2.34;main",
            "__libc_start_call_main;main",
            "ret_from_fork_asm_[k];schedule_tail_[k]",
            "start;main",
        ] {
            assert!(rooted(stack), "{stack}");
        }
    }

    #[test]
    fn a_stripped_c_library_does_not_make_a_stack_a_cut_one() {
        assert!(rooted(
            "[libc.so.6];[libc.so.6];<std::sys::thread::unix::Thread>::new::thread_start"
        ));
        assert!(rooted("[libc-2.31.so];main;work"));
    }

    #[test]
    fn a_stack_that_begins_in_the_middle_is_cut() {
        for stack in ["tokio::task::poll;work", "[libc.so.6]", "[unknown];main", "do_exit_[k]"] {
            assert!(!rooted(stack), "{stack}");
        }
    }
}
