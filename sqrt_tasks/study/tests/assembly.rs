//! What the compiler made of the best kernel: packed square roots of four lanes, and the additions that go with them.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The release build of the program as it is measured, made by cargo if it is not there yet.
fn program() -> PathBuf {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let is_override = |name: &OsString| name.to_string_lossy().starts_with("CARGO_PROFILE_");
    for name in std::env::vars_os().map(|(name, _)| name).filter(is_override) {
        // Whoever builds otherwise keeps those builds; this one goes elsewhere.
        cargo.env_remove(name).env("CARGO_TARGET_DIR", concat!(env!("CARGO_TARGET_TMPDIR"), "/as_measured"));
    }
    let build =
        ["build", "--release", "--locked", "-p", "sqrt_tasks_study", "--message-format", "json", "--manifest-path"];
    let output = cargo.args(build).arg(manifest).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let messages = String::from_utf8(output.stdout).unwrap();
    let mut programs = messages.lines().filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).unwrap();
        let is_program = message["target"]["name"] == "sqrt_tasks_study" && message["target"]["kind"][0] == "bin";
        message["executable"].as_str().filter(|_| is_program).map(PathBuf::from)
    });
    programs.next_back().expect("cargo names the program")
}

/// The instructions of the function whose name contains `function`.
fn disassembly(program: &Path, function: &str) -> Option<String> {
    let output =
        Command::new("objdump").args(["--disassemble", "--no-show-raw-insn", "--demangle"]).arg(program).output();
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
        text.find(&format!("{function}>:")).unwrap_or_else(|| panic!("{function} is not in {}", program.display()));
    let body = &text[start..];
    Some(body[..body.find("\n\n").unwrap_or(body.len())].to_owned())
}

#[test]
fn the_best_kernel_uses_packed_square_roots() {
    let program = program();
    let Some(wide) = disassembly(&program, "kernel::sum_avx2") else {
        return;
    };
    let count = |body: &str, start: &str, register: &str| {
        body.lines().filter(|line| line.contains(start) && line.contains(register)).count()
    };
    // Sixteen lanes in vectors of four.
    assert!(count(&wide, "vsqrtpd", "%ymm") >= 4, "{wide}");
    assert!(count(&wide, "vaddpd", "%ymm") >= 8, "{wide}");
    assert!(count(&wide, "div", "%") == 0, "{wide}");
    let Some(narrow) = disassembly(&program, "kernel::sum_baseline") else {
        return;
    };
    assert!(count(&narrow, "sqrtpd", "%xmm") >= 8, "{narrow}");
    assert!(count(&narrow, "%", "%ymm") == 0, "the baseline must run on every processor: {narrow}");
    let Some(roots) = disassembly(&program, "kernel::roots_avx2") else {
        return;
    };
    assert!(count(&roots, "vsqrtpd", "%ymm") >= 1, "{roots}");
}
