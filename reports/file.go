package reports

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
)

// ReadFile reads a report in the service's JSON, plain or compressed with gzip:
// its header at once, its datasets one by one from a single-use iterator, so
// that a file of any size can be a source for [Client.Submit]. The member
// report-header must come before report-datasets.
//
// The report may stand in a member named report, as the service shows it
// (specification §2.1). What the service adds to a header is left out.
func ReadFile(r io.Reader) (Header, iter.Seq2[Dataset, error], error) {
	f, err := newFileReader(r)
	if err != nil {
		return Header{}, nil, fmt.Errorf("reports.ReadFile: %w", err)
	}
	return f.header, f.datasets(), nil
}

type fileReader struct {
	dec    *json.Decoder
	header Header
	depth  int // objects open
}

func newFileReader(r io.Reader) (*fileReader, error) {
	plain, err := uncompressed(r)
	if err != nil {
		return nil, err
	}
	f := &fileReader{dec: json.NewDecoder(plain)}
	if err := expect(f.dec, json.Delim('{')); err != nil {
		return nil, err
	}
	f.depth = 1
	found := false
	for f.dec.More() {
		name, err := memberName(f.dec)
		if err != nil {
			return nil, err
		}
		switch name {
		case "report":
			err = expect(f.dec, json.Delim('{'))
			f.depth++
		case "report-header":
			err = f.dec.Decode(&f.header)
			found = true
		case "report-datasets":
			if !found {
				return nil, errors.New("report-datasets comes before report-header; put the header first")
			}
			return f, expect(f.dec, json.Delim('['))
		default:
			err = skip(f.dec)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := expect(f.dec, json.Delim('}')); err != nil {
		return nil, err
	}
	return nil, errors.New("there is no list report-datasets")
}

// uncompressed looks at the first bytes to see whether they are gzip's.
func uncompressed(r io.Reader) (io.Reader, error) {
	b := bufio.NewReader(r)
	start, err := b.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(start) == 2 && start[0] == 0x1f && start[1] == 0x8b {
		return gzip.NewReader(b)
	}
	return b, nil
}

func (f *fileReader) datasets() iter.Seq2[Dataset, error] {
	return func(yield func(Dataset, error) bool) {
		n := 0
		for f.dec.More() {
			var d Dataset
			err := f.dec.Decode(&d)
			if err != nil {
				err = fmt.Errorf("reports.ReadFile: dataset %d: %w", n, err)
			}
			if !yield(d, err) || err != nil {
				return
			}
			n++
		}
		if err := f.end(); err != nil {
			yield(Dataset{}, fmt.Errorf("reports.ReadFile: after dataset %d: %w", n, err))
		}
	}
}

// end makes sure that the file is whole.
func (f *fileReader) end() error {
	if err := expect(f.dec, json.Delim(']')); err != nil {
		return err
	}
	for ; f.depth > 0; f.depth-- {
		for f.dec.More() {
			if _, err := memberName(f.dec); err != nil {
				return err
			}
			if err := skip(f.dec); err != nil {
				return err
			}
		}
		if err := expect(f.dec, json.Delim('}')); err != nil {
			return err
		}
	}
	if _, err := f.dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the report")
	}
	return nil
}
