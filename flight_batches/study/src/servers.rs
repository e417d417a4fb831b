//! Servers in processes of their own, and what pyarrow's needs.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use arrow_ipc::writer::FileWriter;
use flight_batches::table::{Shape, Table};
use study_kit::data;
use study_kit::server::Server;

use crate::cases::{Flight, POOL_THREADS, Subject};
use crate::loopback;

/// Starts what serves; `None` if the machine has no such server.
pub fn start(subject: Subject, setting: &Flight, seed: u64) -> Result<Option<Server>> {
    let line = match subject {
        Subject::Ours(mode, prefetch, encoding) => format!(
            "serve --until-stdin-closes --addr 127.0.0.1:0 --mode {mode} --encoding {encoding} --prefetch {prefetch} \
             --pool {POOL_THREADS} --rows {} --cols {} --seed {seed}",
            setting.table_rows, setting.columns
        ),
        Subject::Loopback => loopback::WORD.to_owned(),
        Subject::Pyarrow => return pyarrow(&table_file(setting, seed)),
    };
    Ok(Some(Server::of_this_program(line.split(' '))?))
}

/// pyarrow's server of the table in `file`; `None` if the repository has no pyarrow.
fn pyarrow(file: &Path) -> Result<Option<Server>> {
    let python = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.tools/pyarrow/bin/python"));
    if !python.exists() {
        return Ok(None);
    }
    ensure!(file.exists(), "cannot read {}: `prepare` writes it", file.display());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/server.py");
    let words = [script.as_ref(), "--until-stdin-closes".as_ref(), "--table".as_ref(), file.as_os_str()];
    Ok(Some(Server::start(python, words)?))
}

fn table_file(setting: &Flight, seed: u64) -> PathBuf {
    data::folder("flight_batches").join(format!("table_{}_{seed}.arrow", setting.table_rows))
}

/// Writes the table that pyarrow serves, unless it is there.
pub fn prepare(setting: &Flight, seed: u64) -> Result<()> {
    let file = table_file(setting, seed);
    if file.exists() {
        return Ok(());
    }
    let write = || -> Result<()> {
        fs::create_dir_all(file.parent().context("the data folder has no name")?)?;
        let unfinished = file.with_extension(format!("{}.part", std::process::id()));
        let table = Table::new(Shape { rows: setting.table_rows, columns: setting.columns, seed })?;
        let mut writer = FileWriter::try_new_buffered(File::create(&unfinished)?, &table.schema())?;
        for number in 0..table.batches(setting.rows) {
            writer.write(&table.batch(number, setting.rows))?;
        }
        writer.finish()?;
        Ok(fs::rename(&unfinished, &file)?)
    };
    write().with_context(|| format!("cannot write {}", file.display()))
}
