package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// What a request may take. The sizes of bodies are those that the proxies of the
// deployed servers let through, and so is the depth of JSON and XML that of their
// parsers; the rest is the embedded service's own: far more than clients have a use
// for, and so little that no request takes more than some 300 MiB.
const (
	maxReportBody = 20 << 20
	maxOtherBody  = 10 << 20

	maxInflated = 256 << 20 // bytes of a report that comes compressed; it is read as a stream
	maxHeld     = 32 << 20  // bytes of it that are looked at together
	maxPieces   = 250_000   // pieces of a body, or of the header of a report
	maxValues   = 600_000   // pieces of the datasets of a report, where they are looked at together
	maxFaults   = 10_000    // faults of a report that are told
	maxNesting  = 100       // objects and lists in each other
	maxElements = 256       // elements of XML in each other
	maxAnswer   = 64 << 20  // bytes of the entries of a list
)

var errTooMuch = fail(http.StatusRequestEntityTooLarge, "This is more than the embedded service takes at once.")

// pieces counts what may begin or end something that is kept by itself, or is written
// longer than it came: an element or an attribute, a value in JSON, a parameter, a
// line, an escape. The same characters in texts count too.
func pieces(text []byte) (n int) {
	for _, c := range text {
		switch c {
		case '<', '>', '=', '"', '{', '[', ',', '&', '\n':
			n++
		}
	}
	return n
}

// readSome reads a body of bounded size and number of pieces.
func readSome(r io.Reader) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, io.NopCloser(r), maxOtherBody))
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return nil, tooLarge()
	}
	if err != nil {
		return nil, fail(http.StatusBadRequest, "reading the body: %v", err)
	}
	if pieces(body) > maxPieces {
		return nil, errTooMuch
	}
	return body, nil
}

// inflated is what a report that comes compressed holds, up to a limit.
func inflated(r io.Reader) io.Reader { return &bounded{r, maxInflated} }

type bounded struct {
	io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errTooMuch
	}
	return n, err
}

// decodeJSON reads JSON that is not nested too deep.
func decodeJSON(data []byte, v any) error {
	depth, inText := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '{' || c == '[':
			if depth++; depth > maxNesting {
				return fmt.Errorf("nested more than %d deep", maxNesting)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return json.Unmarshal(data, v)
}

// encoded are the entries of a list, as they are shown.
func encoded[T any](entries []T, show func(T) any) ([]json.RawMessage, error) {
	out, size := []json.RawMessage{}, 0
	for _, entry := range entries {
		text := encode(show(entry))
		if size += len(text); size > maxAnswer {
			return nil, errTooMuch
		}
		out = append(out, text)
	}
	return out, nil
}
