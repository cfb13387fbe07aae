//! Starts servers and puts load on them for the profilers to watch.

mod alone;
mod arrivals;
mod heap;
mod kept;
mod observe;
mod server;
mod session;
mod slowest;

pub use arrivals::{RandomArrivals, RandomLoad, half_of};
pub use kept::ensure_it_uses_malloc;
pub(crate) use observe::window;
pub use observe::{Instruments, Watch, first_that_works};
pub use server::ServerUnderLoad;
pub use session::{FlameSession, topic};
