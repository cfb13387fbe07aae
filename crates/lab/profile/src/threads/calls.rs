//! The names of the system calls that servers block in. Their numbers depend on the architecture.

use std::borrow::Cow;

/// The name of a system call of this architecture, or its number.
pub fn name(number: i64) -> Cow<'static, str> {
    match CALLS.iter().chain(OLDER).find(|(known, _)| *known == number) {
        Some((_, constant)) => constant.trim_start_matches("SYS_").into(),
        None => format!("system call {number}").into(),
    }
}

#[cfg(target_os = "linux")]
macro_rules! calls {
    ($($constant:ident)*) => { &[$((nix::libc::$constant as i64, stringify!($constant))),*] };
}

#[rustfmt::skip]
#[cfg(target_os = "linux")]
const CALLS: &[(i64, &str)] = calls! {
    SYS_futex SYS_epoll_pwait SYS_epoll_pwait2 SYS_ppoll SYS_pselect6 SYS_io_uring_enter
    SYS_nanosleep SYS_clock_nanosleep SYS_read SYS_readv SYS_pread64 SYS_write SYS_writev
    SYS_pwrite64 SYS_sendfile SYS_fsync SYS_fdatasync SYS_sync_file_range SYS_msync SYS_openat
    SYS_flock SYS_fcntl SYS_accept SYS_accept4 SYS_connect SYS_recvfrom SYS_recvmsg SYS_sendto
    SYS_sendmsg SYS_wait4 SYS_waitid SYS_rt_sigtimedwait SYS_madvise SYS_munmap SYS_mprotect
};

/// Older calls, which newer architectures do without.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
const OLDER: &[(i64, &str)] = calls! { SYS_epoll_wait SYS_poll SYS_select };

#[cfg(not(target_os = "linux"))]
const CALLS: &[(i64, &str)] = &[];
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
const OLDER: &[(i64, &str)] = &[];
