// Reads archives with archive/zip and prints what is in them, as tests/conformance.rs expects it: "# PATH", a line per entry with
// name (hexadecimal), size and CRC between tabs, and "! MESSAGE" if something is wrong.
package main

import (
	"archive/zip"
	"bufio"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

func check(out io.Writer, path string) error {
	archive, err := zip.OpenReader(path)
	if err != nil {
		return err
	}
	defer archive.Close()
	for _, entry := range archive.File {
		data, err := entry.Open()
		if err != nil {
			return fmt.Errorf("%q: %w", entry.Name, err)
		}
		crc := crc32.NewIEEE()
		size, err := io.Copy(crc, data)
		if err == nil {
			err = data.Close()
		}
		if err != nil {
			return fmt.Errorf("%q: %w", entry.Name, err)
		}
		if uint64(size) != entry.UncompressedSize64 || crc.Sum32() != entry.CRC32 {
			return fmt.Errorf("%q says size %d and CRC %08x", entry.Name, entry.UncompressedSize64, entry.CRC32)
		}
		fmt.Fprintf(out, "%x\t%d\t%08x\n", entry.Name, size, crc.Sum32())
	}
	return nil
}

func main() {
	out := bufio.NewWriterSize(os.Stdout, 1<<16)
	defer out.Flush()
	for _, path := range os.Args[1:] {
		fmt.Fprintf(out, "# %s\n", path)
		if err := check(out, path); err != nil {
			fmt.Fprintf(out, "! %v\n", err)
		}
	}
}
