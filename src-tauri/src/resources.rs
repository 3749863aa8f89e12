//! Files that travel with the program: the embedder's weights and the licence notices. A package
//! has them in its resource folder; a build from a checkout finds them in `.build/`, where the
//! set-up step puts them. Never fetches anything.

use std::fs;
use std::path::PathBuf;
use tauri::{AppHandle, Manager, Runtime};

/// The notices, made by `npm run notices` and by the packaging step.
pub(crate) const NOTICES: &str = "NOTICES.txt";

const NO_NOTICES: &str = "The notices are made when the program is packaged. In a checkout, run: \
    npm run notices\n";

/// The folder or file of that name, if this build has it.
pub(crate) fn find<R: Runtime>(app: &AppHandle<R>, name: &str) -> Option<PathBuf> {
    let packaged = app.path().resource_dir().ok().map(|folder| folder.join(name));
    packaged.into_iter().chain(checkout(name)).find(|path| path.exists())
}

/// Only a debug build looks beside its sources: a packaged one must not depend on where it was
/// built.
fn checkout(name: &str) -> Option<PathBuf> {
    let folder = cfg!(debug_assertions).then_some(env!("CARGO_MANIFEST_DIR"))?;
    Some(PathBuf::from(folder).join(".build").join(name))
}

/// The notices as text, or how to make them.
pub(crate) fn notices<R: Runtime>(app: &AppHandle<R>) -> String {
    find(app, NOTICES)
        .and_then(|path| fs::read_to_string(path).ok())
        .unwrap_or_else(|| NO_NOTICES.to_owned())
}
