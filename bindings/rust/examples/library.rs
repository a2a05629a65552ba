//! Says which library this process would use, or which paths were tried.
//! usage: library [PATH]
use varve::Library;

fn main() -> Result<(), varve::Error> {
    let library = match std::env::args_os().nth(1) {
        Some(path) => Library::load(path)?,
        None => Library::get()?,
    };
    println!("{} {}", library.version(), library.path().display());
    Ok(())
}
