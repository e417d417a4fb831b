//! What the compiler made of the best kernel: packed square roots of four lanes, and the additions that go with them.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The kernels, compiled on their own with the optimisation of the release profile.
fn kernels() -> PathBuf {
    let object = PathBuf::from(concat!(env!("CARGO_TARGET_TMPDIR"), "/kernel.o"));
    let options = ["--crate-type=lib", "--edition=2024", "-Copt-level=3", "-Ccodegen-units=1", "--emit=obj", "-o"];
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/src/kernel.rs");
    let output = Command::new("rustc").args(options).arg(&object).arg(source).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    object
}

/// The instructions of the function whose name contains `function`.
fn disassembly(object: &Path, function: &str) -> Option<String> {
    let output =
        Command::new("objdump").args(["--disassemble", "--no-show-raw-insn", "--demangle"]).arg(object).output();
    let output = match output {
        Ok(output) => output,
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "objdump is needed: {error}");
            eprintln!("skipped: objdump cannot be run ({error}); it comes with binutils");
            return None;
        }
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let start =
        text.find(&format!("{function}>:")).unwrap_or_else(|| panic!("{function} is not in {}", object.display()));
    let body = &text[start..];
    Some(body[..body.find("\n\n").unwrap_or(body.len())].to_owned())
}

#[test]
fn the_best_kernel_uses_packed_square_roots() {
    let object = kernels();
    let of = |function| disassembly(&object, function);
    let [Some(wide), Some(narrow), Some(roots)] =
        ["kernel::sum_avx2", "kernel::sum_baseline", "kernel::roots_avx2"].map(of)
    else {
        return;
    };
    let count = |body: &str, start: &str, register: &str| {
        body.lines().filter(|line| line.contains(start) && line.contains(register)).count()
    };
    // Sixteen lanes in vectors of four.
    assert!(count(&wide, "vsqrtpd", "%ymm") >= 4, "{wide}");
    assert!(count(&wide, "vaddpd", "%ymm") >= 8, "{wide}");
    assert!(count(&wide, "div", "%") == 0, "{wide}");
    assert!(count(&narrow, "sqrtpd", "%xmm") >= 8, "{narrow}");
    assert!(count(&narrow, "%", "%ymm") == 0, "the baseline must run on every processor: {narrow}");
    assert!(count(&roots, "vsqrtpd", "%ymm") >= 1, "{roots}");
}
