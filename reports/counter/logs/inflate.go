package logs

import (
	"bufio"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// compressions are the first bytes of a file, and what they say of it.
var compressions = []struct {
	magic string
	name  string                             // of one that is not read
	open  func(io.Reader) (io.Reader, error) // nil for such a one; there is nothing to close
}{
	{"\x1f\x8b", "", func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
	{"BZh", "", func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil }},
	{"\x28\xb5\x2f\xfd", "", unzstd},
	{"\x50\x2a\x4d\x18", "", unzstd}, // pzstd begins with a frame that is skipped
	{"\xfd7zXZ\x00", "xz", nil},
	{"PK\x03\x04", "ZIP", nil},
	{"7z\xbc\xaf\x27\x1c", "7-Zip", nil},
	{"\x04\x22\x4d\x18", "LZ4", nil},
	{"\x1f\x9d", "compress", nil},
}

func unzstd(r io.Reader) (io.Reader, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1)) // no goroutine
}

// inflated tells by the first bytes how a log is compressed.
func inflated(r io.Reader) (content io.Reader, packed bool, err error) {
	in := bufio.NewReaderSize(r, 256<<10)
	begin, _ := in.Peek(6) // an error comes again when it is read
	for _, c := range compressions {
		if !strings.HasPrefix(string(begin), c.magic) {
			continue
		}
		if c.open == nil {
			return nil, true, errors.New("is compressed with " + c.name + "; only gzip, bzip2 and zstd are read")
		}
		content, err = c.open(in)
		return content, true, err
	}
	return in, false, nil
}
