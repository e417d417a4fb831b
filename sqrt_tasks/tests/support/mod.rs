//! A program on fewer processors than the machine has, by the quota of a made-up cgroup.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Runs `command` in a cgroup that `cpu.max` limits; its files are made below `folder`.
pub fn within_quota(mut command: Command, cpu_max: &str, folder: &Path) -> Output {
    let root = folder.join("sys/fs/cgroup");
    fs::create_dir_all(root.join("mine")).unwrap();
    fs::create_dir_all(folder.join("proc/self")).unwrap();
    let (shim, source) = (folder.join("shim.so"), folder.join("shim.c"));
    fs::write(&source, include_str!("files_elsewhere.c")).unwrap();
    let compiled =
        Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&shim).arg(&source).arg("-ldl").status().unwrap();
    assert!(compiled.success());
    fs::write(folder.join("proc/self/cgroup"), "0::/mine\n").unwrap();
    fs::write(root.join("mine/cgroup.controllers"), "cpu\n").unwrap();
    fs::write(root.join("mine/cpu.max"), cpu_max).unwrap();
    // The loader splits the variable at spaces, which the path of a folder may have.
    command.current_dir(folder).env("LD_PRELOAD", "./shim.so").env("ELSEWHERE", folder).output().unwrap()
}
