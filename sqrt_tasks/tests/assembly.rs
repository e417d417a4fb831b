//! What the compiler made of the best kernel: packed square roots of eight or four lanes, and the additions that go with them.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use std::path::PathBuf;
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

/// The instructions of the function whose name ends with `function`.
fn instructions<'a>(disassembly: &'a str, function: &str) -> &'a str {
    let (_, rest) =
        disassembly.split_once(&format!("{function}>:")).unwrap_or_else(|| panic!("there is no {function}"));
    rest.split("\n\n").next().unwrap_or(rest)
}

#[test]
fn the_best_kernel_uses_packed_square_roots() {
    let options = ["--disassemble", "--no-show-raw-insn", "--demangle"];
    let disassembly = match Command::new("objdump").args(options).arg(kernels()).output() {
        Ok(output) => String::from_utf8_lossy(&output.stdout).into_owned(),
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "objdump is needed: {error}");
            eprintln!("skipped: objdump cannot be run ({error}); it comes with binutils");
            return;
        }
    };
    let [wide, narrow] =
        ["kernel::sum_avx2", "kernel::sum_in_lanes"].map(|function| instructions(&disassembly, function));
    let count = |body: &str, start: &str, register: &str| {
        body.lines().filter(|line| line.contains(start) && line.contains(register)).count()
    };
    // Four vectors at once, of eight and of four lanes.
    for (level, register) in [("avx512", "%zmm"), ("avx2", "%ymm")] {
        let [sum, roots] = ["sum", "roots"].map(|what| instructions(&disassembly, &format!("kernel::{what}_{level}")));
        assert!(count(sum, "vsqrtpd", register) >= 4, "{sum}");
        assert!(count(sum, "vaddpd", register) >= 8, "{sum}");
        assert!(count(sum, "div", "%") == 0, "{sum}");
        assert!(count(roots, "vsqrtpd", register) >= 1, "{roots}");
    }
    assert!(count(wide, "%", "%zmm") == 0, "AVX2 has no such registers: {wide}");
    assert!(count(narrow, "sqrtpd", "%xmm") >= 8, "{narrow}");
    assert!(count(narrow, "%", "%ymm") == 0, "the baseline must run on every processor: {narrow}");
}
