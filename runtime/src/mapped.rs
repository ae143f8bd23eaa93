//! Arrays that stay in their files: a page is read when it is touched, and one that is written is a
//! copy of the file's.
//!
//! Memory that another process changes or cuts off is what no caller can defend against: checked
//! indices would be others when they are used. So a file is mapped only under a lease of the
//! system, by which whoever opens it for writing waits until the lease is given back. When one
//! does, the calls that use the map are stopped, and it can be seen that they were.

use crate::settings::StopToken;
use memmap2::{MmapMut, MmapOptions};
use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often it is looked whether somebody waits for the file. The system lets him wait for 45
/// seconds.
const LOOK: Duration = Duration::from_millis(50);

/// Elements in a file, little-endian and one behind the other, as memory. What is written to them
/// stays in memory.
#[derive(Debug)]
pub struct Mapped<T> {
    map: MmapMut,
    length: usize,
    watch: Watch,
    elements: PhantomData<T>,
}

/// Types of which any bytes are a value: integers and floats.
pub trait Plain: sealed::Sealed + Copy {}

mod sealed {
    pub trait Sealed {}
}

macro_rules! plain {
    ($($element:ty),*) => {
        $(impl Plain for $element {}
        impl sealed::Sealed for $element {})*
    };
}
plain!(i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);

impl<T: Plain> Mapped<T> {
    /// Maps `length` elements of the file at `path`, of which the first begins at byte `offset`.
    /// Before anybody may change the file, `stop` stops: calls that use the elements have to be
    /// given it.
    ///
    /// # Errors
    /// Where the file cannot be opened, is too short, or holds elements where memory cannot have
    /// them, and where the system grants no lease: it knows none, somebody has the file open for
    /// writing, or it belongs to somebody else. It can be read then.
    pub fn open(path: &Path, offset: u64, length: usize, stop: &StopToken) -> io::Result<Self> {
        let unsupported = |why| io::Error::new(io::ErrorKind::Unsupported, why);
        if cfg!(target_endian = "big") {
            return Err(unsupported("its elements are little-endian"));
        }
        if !offset.is_multiple_of(align_of::<T>() as u64) {
            return Err(unsupported("its elements are not aligned"));
        }
        let bytes = length.checked_mul(size_of::<T>());
        let bytes = bytes.ok_or_else(|| unsupported("it is larger than memory can be"))?;
        let lease = Lease::take(File::open(path)?)?;
        let end = offset.checked_add(bytes as u64);
        if end.is_none_or(|end| lease.0.metadata().is_ok_and(|it| it.len() < end)) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut options = MmapOptions::new();
        options.offset(offset).len(bytes).no_reserve_swap();
        // SAFETY: the bytes are in the file, and while the lease holds nobody changes them. It is
        // given back after the map is gone, but for calls that do not end within the system's
        // patience of 45 seconds after they were asked to.
        let map = unsafe { options.map_copy(&lease.0)? };
        let watch = Watch::begin(lease, stop.clone());
        Ok(Self {
            map,
            length,
            watch,
            elements: PhantomData,
        })
    }
}

impl<T> Mapped<T> {
    /// Whether nobody asked for the file to change it: what was calculated from the elements is
    /// what the file held.
    pub fn is_intact(&self) -> bool {
        self.watch.lease.holds()
    }
}

impl<T> Deref for Mapped<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `open` alone makes maps, of types of which any bytes are a value, with room for
        // `length` of them; the map begins at a page plus an offset that is a multiple of their
        // alignment.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().cast(), self.length) }
    }
}

impl<T> DerefMut for Mapped<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and the borrow of the map is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.map.as_mut_ptr().cast(), self.length) }
    }
}

/// A thread that asks for a stop when the file is to be changed.
#[derive(Debug)]
struct Watch {
    lease: Arc<Lease>,
    end: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Watch {
    fn begin(lease: Lease, stop: StopToken) -> Self {
        let lease = Arc::new(lease);
        let watched = Arc::clone(&lease);
        let (sender, ended) = channel();
        let thread = std::thread::spawn(move || {
            while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                if !watched.holds() {
                    stop.stop();
                    return;
                }
            }
        });
        let end = Some((sender, thread));
        Self { lease, end }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.end.take() {
            drop(sender);
            // The thread cannot panic; were it to, there would be nobody to tell.
            let _ = thread.join();
        }
    }
}

/// The promise of the system to let everybody wait who opens the file for writing. Closing the file
/// gives it back.
#[derive(Debug)]
struct Lease(File);

#[cfg(target_os = "linux")]
impl Lease {
    fn take(file: File) -> io::Result<Self> {
        // From `fcntl.h`; `libc` has it for few targets.
        const F_SETSIG: libc::c_int = 10;
        let lease = Self(file);
        // What comes unasked is SIGIO, which ends processes; SIGURG is ignored by those that do not
        // know it.
        lease.control(F_SETSIG, libc::SIGURG)?;
        lease.control(libc::F_SETLEASE, libc::F_RDLCK)?;
        Ok(lease)
    }

    /// Whether nobody waits for the file.
    fn holds(&self) -> bool {
        let held = self.control(libc::F_GETLEASE, 0);
        held.is_ok_and(|it| it == libc::F_RDLCK)
    }

    fn control(&self, command: libc::c_int, argument: libc::c_int) -> io::Result<libc::c_int> {
        use std::os::fd::AsRawFd;
        // SAFETY: the descriptor is open, and the commands above take a number.
        match unsafe { libc::fcntl(self.0.as_raw_fd(), command, argument) } {
            -1 => Err(io::Error::last_os_error()),
            answer => Ok(answer),
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Lease {
    fn take(_: File) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn holds(&self) -> bool {
        false
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::os::unix::fs::OpenOptionsExt;

    /// A file with `bytes`, removed when it is dropped.
    struct Temporary(std::path::PathBuf);

    impl Temporary {
        fn new(name: &str, bytes: &[u8]) -> Self {
            let path = std::env::temp_dir().join(format!("strew-{}-{name}", std::process::id()));
            std::fs::write(&path, bytes).expect("a file");
            Self(path)
        }
    }

    impl Drop for Temporary {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    #[test]
    fn elements_are_those_of_the_file_and_writing_leaves_it_alone() {
        let bytes: Vec<u8> = (0..24).collect();
        let file = Temporary::new("elements", &bytes);
        let stop = StopToken::new();
        let mut map = Mapped::<u32>::open(&file.0, 8, 4, &stop).expect("a map");
        assert_eq!(map.len(), 4);
        assert_eq!(map[0], u32::from_le_bytes([8, 9, 10, 11]));
        map[3] = 7;
        assert_eq!(map[3], 7);
        assert!(map.is_intact());
        drop(map);
        assert_eq!(std::fs::read(&file.0).expect("the file"), bytes);
        assert!(!stop.is_stopped());
    }

    #[test]
    fn what_is_too_short_or_crooked_or_being_written_is_not_mapped() {
        let file = Temporary::new("short", &[0; 16]);
        let stop = StopToken::new();
        let open = |offset, length| Mapped::<u32>::open(&file.0, offset, length, &stop);
        let kind = |it: io::Result<Mapped<u32>>| it.map(drop).map_err(|error| error.kind());
        assert_eq!(kind(open(0, 5)), Err(io::ErrorKind::UnexpectedEof));
        assert_eq!(
            kind(open(u64::MAX - 3, 5)),
            Err(io::ErrorKind::UnexpectedEof)
        );
        assert_eq!(kind(open(2, 1)), Err(io::ErrorKind::Unsupported));
        assert_eq!(kind(open(0, usize::MAX)), Err(io::ErrorKind::Unsupported));
        let writer = File::options()
            .append(true)
            .open(&file.0)
            .expect("the file");
        assert_eq!(kind(open(0, 4)), Err(io::ErrorKind::WouldBlock));
        drop(writer);
        assert_eq!(kind(open(0, 4)), Ok(()));
    }

    #[test]
    fn whoever_wants_to_change_the_file_stops_the_calls_and_waits() {
        let file = Temporary::new("changed", &[0; 16]);
        let stop = StopToken::new();
        let map = Mapped::<u64>::open(&file.0, 0, 2, &stop).expect("a map");
        let write = |flags| {
            File::options()
                .write(true)
                .custom_flags(flags)
                .open(&file.0)
        };
        let refused = write(libc::O_NONBLOCK).expect_err("it is leased");
        assert_eq!(refused.kind(), io::ErrorKind::WouldBlock);
        assert!(!map.is_intact());
        let asked = std::time::Instant::now();
        while !stop.is_stopped() && asked.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(stop.is_stopped());
        drop(map);
        assert!(write(0).is_ok());
    }
}
