import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Enumeration;
import java.util.HexFormat;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipInputStream;

/**
 * Reads archives as a stream and as a file and prints what is in them, as tests/conformance.rs expects it: "# stream PATH" or
 * "# file PATH", a line per entry with name (hexadecimal), size and CRC between tabs, and "! MESSAGE" if something is wrong.
 */
public class Check {
    private static final PrintStream OUT = new PrintStream(new BufferedOutputStream(System.out, 1 << 16), false);
    private static final byte[] BUFFER = new byte[1 << 16];

    public static void main(String[] paths) {
        for (String path : paths) {
            attempt("stream", path, Check::stream);
            attempt("file", path, Check::file);
        }
        OUT.flush();
    }

    private interface Reading {
        void read(String path) throws IOException;
    }

    private static void attempt(String way, String path, Reading reading) {
        OUT.print("# " + way + " " + path + "\n");
        try {
            reading.read(path);
        } catch (Exception error) {
            OUT.print("! " + error.toString().replace('\n', ' ') + "\n");
        }
    }

    private static void stream(String path) throws IOException {
        try (ZipInputStream archive = new ZipInputStream(new BufferedInputStream(new FileInputStream(path)))) {
            ZipEntry entry;
            while ((entry = archive.getNextEntry()) != null) {
                show(entry, archive);
            }
        }
    }

    private static void file(String path) throws IOException {
        try (ZipFile archive = new ZipFile(path)) {
            int entries = 0;
            Enumeration<? extends ZipEntry> all = archive.entries();
            while (all.hasMoreElements()) {
                ZipEntry entry = all.nextElement();
                try (InputStream data = archive.getInputStream(entry)) {
                    show(entry, data);
                }
                entries++;
            }
            if (entries != archive.size()) {
                throw new IOException("it has " + archive.size() + " entries and shows " + entries);
            }
        }
    }

    private static void show(ZipEntry entry, InputStream data) throws IOException {
        CRC32 crc = new CRC32();
        long size = 0;
        int count;
        while ((count = data.read(BUFFER)) > 0) {
            crc.update(BUFFER, 0, count);
            size += count;
        }
        if (size != entry.getSize() || crc.getValue() != entry.getCrc()) {
            throw new IOException(entry + " says size " + entry.getSize() + " and CRC " + entry.getCrc());
        }
        String name = HexFormat.of().formatHex(entry.getName().getBytes(StandardCharsets.UTF_8));
        OUT.printf("%s\t%d\t%08x\n", name, size, crc.getValue());
    }
}
