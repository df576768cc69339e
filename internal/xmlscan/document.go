package xmlscan

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxSize is the length in bytes of the longest document that is read, as at DataCite.
const MaxSize = 10 << 20

// An Error says where a document is not well formed, or is not one that this package
// reads: not UTF-8, too long, too deep, with a document type declaration.
type Error struct {
	Line, Column int // both from 1; columns count characters
	Reason       string
}

// Error returns the place and the reason.
func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

// Fail makes a reason the error at a byte offset, unless there is one.
func (s *Scanner) Fail(offset int, format string, args ...any) {
	if s.err != nil {
		return
	}
	const longest = 100 // of a name: the error is a text for people
	for i, arg := range args {
		if text, ok := arg.(string); ok && len(text) > longest {
			args[i] = strings.ToValidUTF8(text[:longest], "") + "…"
		}
	}
	line, column := position(s.src, offset)
	s.err = &Error{Line: line, Column: column, Reason: fmt.Sprintf(format, args...)}
}

// position returns the line and column of a byte offset.
func position(src string, offset int) (line, column int) {
	before := src[:min(offset, len(src))]
	lineStart := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[lineStart:]) + 1
}

// Stored reads a document that the service has accepted before: of any length, and with
// what it ignores, an encoding that is declared and a document type.
func Stored(src string) *Scanner {
	s := &Scanner{src: strings.TrimPrefix(src, "\ufeff"), stored: true}
	s.start()
	return s
}

// start reads the beginning, and looks at all characters.
func (s *Scanner) start() {
	s.declaration() // may say why the bytes are not UTF-8
	if at := BadChar(s.src); at >= 0 {
		s.failAtBadChar(at)
	}
}

// Open reads all of r and checks what holds for the document as a whole. The error is that
// of the reader; [Scanner.Err] has that of the document.
func Open(r io.Reader) (*Scanner, error) {
	src, err := readLimited(r)
	if err != nil {
		return nil, fmt.Errorf("reading the document: %w", err)
	}
	s := &Scanner{src: strings.TrimPrefix(src, "\ufeff")}
	if encoding := wideEncoding(src); encoding != "" {
		s.Fail(0, "the document is in %s; %s", encoding, onlyUTF8)
	} else if len(src) > MaxSize {
		s.Fail(MaxSize, "the document is longer than %d bytes", MaxSize)
	} else {
		s.start()
	}
	return s, nil
}

const onlyUTF8 = "the service reads every document as UTF-8"

// wideEncoding returns UTF-16 or UTF-32 if the byte order mark or zeros around ASCII
// characters show it, and "" otherwise.
func wideEncoding(src string) string {
	zeros := []byte("----")
	for i := range min(len(zeros), len(src)) {
		if src[i] == 0 {
			zeros[i] = '0'
		}
	}
	switch pattern := string(zeros); {
	case strings.HasPrefix(src, "\xff\xfe\x00\x00"), strings.HasPrefix(src,
		"\x00\x00\xfe\xff"), pattern == "-000", pattern == "000-":
		return "UTF-32"
	case strings.HasPrefix(src, "\xff\xfe"), strings.HasPrefix(src, "\xfe\xff"), pattern == "-0-0", pattern == "0-0-":
		return "UTF-16"
	}
	return ""
}

func (s *Scanner) failAtBadChar(at int) {
	r, size := utf8.DecodeRuneInString(s.src[at:])
	if r == utf8.RuneError && size == 1 {
		s.Fail(at, "the byte 0x%02X is not UTF-8", s.src[at])
		return
	}
	s.Fail(at, "XML cannot contain the character %U", r)
}

// readLimited reads at most one byte more than is allowed.
func readLimited(r io.Reader) (string, error) {
	var b strings.Builder
	if sized, ok := r.(interface{ Len() int }); ok {
		b.Grow(min(sized.Len(), MaxSize+1))
	}
	_, err := io.Copy(&b, io.LimitReader(r, MaxSize+1))
	return b.String(), err
}

// declaration reads the XML declaration, if there is one.
func (s *Scanner) declaration() {
	if !strings.HasPrefix(s.src, "<?xml") || len(s.src) > 5 && isNameChar(rune(s.src[5])) {
		return
	}
	body, _, found := strings.Cut(s.src[len("<?xml"):], "?>")
	if !found {
		s.Fail(0, "the XML declaration does not end")
		return
	}
	s.pos = len("<?xml") + len(body) + len("?>")
	version, body := pseudoAttribute(body, "version")
	encoding, body := pseudoAttribute(body, "encoding")
	standalone, body := pseudoAttribute(body, "standalone")
	switch {
	case !strings.HasPrefix(version, "1.") || strings.Trim(version[2:], "0123456789") != "" || len(version) == 2:
		s.Fail(0, "the XML declaration gives no version 1.x")
	case Trim(body) != "", standalone != "" && standalone != "yes" && standalone != "no":
		s.Fail(0, "the XML declaration is not written correctly")
	case s.stored:
	case !slices.Contains([]string{"", "utf-8", "utf8", "us-ascii"}, strings.ToLower(encoding)):
		s.Fail(0, "the document declares the encoding %q; %s", encoding, onlyUTF8)
	}
}

// pseudoAttribute cuts name="value" off the front of an XML declaration. When it
// is not there, value is empty and rest is body.
func pseudoAttribute(body, name string) (value, rest string) {
	after, ok := strings.CutPrefix(strings.TrimLeft(body, blanks), name)
	if !ok || body == "" || !IsBlank(body[0]) {
		return "", body
	}
	after, ok = strings.CutPrefix(strings.TrimLeft(after, blanks), "=")
	after = strings.TrimLeft(after, blanks)
	if !ok || after == "" || after[0] != '"' && after[0] != '\'' {
		return "", body
	}
	value, rest, ok = strings.Cut(after[1:], after[:1])
	if !ok {
		return "", body
	}
	return value, rest
}

// Check returns nil if r is well-formed XML in UTF-8, and otherwise an [*Error] or that of
// the reader.
func Check(r io.Reader) error {
	s, err := Open(r)
	if err != nil {
		return err
	}
	for s.Next() != End {
		continue
	}
	if s.err != nil {
		return s.err
	}
	return nil
}
