//! Tells the linker how to leave Node's symbols open when the addon is built.

fn main() {
    if std::env::var_os("CARGO_FEATURE_BINDING").is_some() {
        napi_build::setup();
    }
}
