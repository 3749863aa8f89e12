//! How the web view draws. On some Linux graphics stacks its fast path leaves the window blank;
//! this module decides before the toolkit starts whether to switch that path off, and remembers a
//! person's choice to do so. Never overrides a switch that the person has set, and sets none
//! while the window is driven by a test: screenshots through the driver hang with them.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Switches of `WebKitGTK`, weakest first.
const DMABUF: &str = "WEBKIT_DISABLE_DMABUF_RENDERER";
const COMPOSITING: &str = "WEBKIT_DISABLE_COMPOSITING_MODE";

/// `normal` or `safe`: a person's own choice for one start.
const VARIABLE: &str = "PALIMPSEST_DRAWING";

/// Lies in the data folder while safe drawing is chosen.
const MARK: &str = "safe-drawing";

const MARK_TEXT: &str = "While this file is here, Palimpsest draws its window without \
    acceleration. Delete it to try the fast way again.\n";

/// How to draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Drawing {
    /// As the web view likes it.
    Normal,
    /// Without sharing buffers with the graphics driver.
    NoSharedBuffers,
    /// Without acceleration of any kind.
    Safe,
}

impl Drawing {
    fn switches(self) -> &'static [&'static str] {
        match self {
            Self::Normal => &[],
            Self::NoSharedBuffers => &[DMABUF],
            Self::Safe => &[DMABUF, COMPOSITING],
        }
    }
}

/// What the choice rests on.
#[derive(Debug, Clone, Copy, Default)]
struct Surroundings<'a> {
    /// One of the switches is set already.
    switched: bool,
    /// A test drives the window.
    driven: bool,
    /// The value of `PALIMPSEST_DRAWING`.
    asked: Option<&'a OsStr>,
    /// Safe drawing was chosen earlier.
    remembered: bool,
    /// NVIDIA's own driver is loaded, with which shared buffers are known to fail.
    nvidia: bool,
}

fn choose(here: Surroundings<'_>) -> Drawing {
    if here.switched || here.driven {
        return Drawing::Normal;
    }
    match here.asked.and_then(OsStr::to_str) {
        Some("normal") => Drawing::Normal,
        Some("safe") => Drawing::Safe,
        _ if here.remembered => Drawing::Safe,
        _ if here.nvidia => Drawing::NoSharedBuffers,
        _ => Drawing::Normal,
    }
}

/// Whether a test drives the window.
pub(crate) fn driven() -> bool {
    std::env::var_os("TAURI_WEBVIEW_AUTOMATION").is_some_and(|value| value == "true")
}

/// Whether acceleration is off altogether, by choice or by the person's own switch.
pub(crate) fn is_safe() -> bool {
    std::env::var_os(COMPOSITING).is_some()
}

/// Chooses how to draw and, if that takes switches, starts the program anew in its own place with
/// them set. Returns when nothing has to be set, or when that start failed.
pub(crate) fn prepare(folder: &Path) {
    if !cfg!(target_os = "linux") {
        return;
    }
    let asked = std::env::var_os(VARIABLE);
    let drawing = choose(Surroundings {
        switched: [DMABUF, COMPOSITING].iter().any(|name| std::env::var_os(name).is_some()),
        driven: driven(),
        asked: asked.as_deref(),
        remembered: mark(folder).exists(),
        nvidia: Path::new("/proc/driver/nvidia/version").exists(),
    });
    if !drawing.switches().is_empty() {
        // A failure leaves the window as it would have been without this module; the guard in
        // `window` still watches it.
        drop(start_again(drawing));
    }
}

/// Remembers safe drawing for later starts and starts the program anew with it. Does not return
/// unless something failed.
pub(crate) fn restart_safely(folder: &Path) -> io::Error {
    if let Err(error) = fs::write(mark(folder), MARK_TEXT) {
        tracing::warn!(%error, "safe drawing could not be remembered");
    }
    start_again(Drawing::Safe)
}

/// Puts a fresh start of the program in the place of this process. Locks and connections of this
/// one end with it, so the fresh start finds the folder free.
#[cfg(unix)]
fn start_again(drawing: Drawing) -> io::Error {
    use std::os::unix::process::CommandExt;
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return error,
    };
    std::process::Command::new(program)
        .args(std::env::args_os().skip(1))
        .envs(drawing.switches().iter().map(|name| (name, "1")))
        .exec()
}

/// The switches belong to `WebKitGTK`; elsewhere there is nothing to start anew with.
#[cfg(not(unix))]
fn start_again(_drawing: Drawing) -> io::Error {
    io::Error::from(io::ErrorKind::Unsupported)
}

fn mark(folder: &Path) -> PathBuf {
    folder.join(MARK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_set_under_test_or_against_a_person() {
        let worst = Surroundings { remembered: true, nvidia: true, ..Surroundings::default() };
        assert_eq!(choose(Surroundings { driven: true, ..worst }), Drawing::Normal);
        assert_eq!(choose(Surroundings { switched: true, ..worst }), Drawing::Normal);
        let normal = Some(OsStr::new("normal"));
        assert_eq!(choose(Surroundings { asked: normal, ..worst }), Drawing::Normal);
    }

    #[test]
    fn a_start_with_switches_sets_no_more() {
        for drawing in [Drawing::NoSharedBuffers, Drawing::Safe] {
            assert!(!drawing.switches().is_empty());
        }
        assert!(choose(Surroundings { switched: true, ..nvidia() }).switches().is_empty());
    }

    #[test]
    fn affected_systems_get_the_weakest_switch_and_a_choice_gets_all() {
        assert_eq!(choose(Surroundings::default()), Drawing::Normal);
        assert_eq!(choose(nvidia()), Drawing::NoSharedBuffers);
        assert_eq!(choose(Surroundings { remembered: true, ..nvidia() }), Drawing::Safe);
        let safe = Some(OsStr::new("safe"));
        let asked = Surroundings { asked: safe, ..Surroundings::default() };
        assert_eq!(choose(asked).switches(), [DMABUF, COMPOSITING]);
    }

    fn nvidia() -> Surroundings<'static> {
        Surroundings { nvidia: true, ..Surroundings::default() }
    }
}
