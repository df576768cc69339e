package xmlscan_test

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/xmlscan"
)

// A tag or text of a document, as both readers see it.
type piece struct {
	name  xml.Name
	attrs []xml.Attr
	text  string
	end   bool
}

// blank: encoding/xml keeps line breaks in attributes, which XML reads as blanks (XML 1.0, section 3.3.3).
var blank = strings.NewReplacer("\t", " ", "\r", " ", "\n", " ")

// FuzzAgreesWithEncodingXML: what is read without an error, encoding/xml reads in the same way, and a tree of
// it is written as it was.
func FuzzAgreesWithEncodingXML(f *testing.F) {
	sound := []string{
		`<?xml version="1.0"?><a xmlns="urn:a" xmlns:b="urn:b"><b:c d='1&#9;2' b:d="3"/><!-- x -->y &amp; ` +
			`<![CDATA[<z>]]></a>`,
		"\ufeff<?xml version='1.0' encoding='UTF-8'?>\r\n<!-- - --><ä xml:lang=\"de\">&lt;&#x1F600;\r</ä><?p i?>",
		`<a xmlns="u"><b xmlns=""><c xmlns:p="q" p:e=" x	y "></c></b></a>`, `<a b="&quot;>">]]&gt;</a>`,
	}
	for _, seed := range append(sound, `<a`, `<!DOCTYPE a><a/>`) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := xmlscan.Open(strings.NewReader(text))
		require.NoError(t, err)
		var got []piece
		for kind := s.Next(); kind != xmlscan.End; kind = s.Next() {
			switch kind {
			case xmlscan.StartTag:
				p := piece{name: xml.Name{Space: s.Space, Local: s.Name}}
				for _, a := range s.Attrs {
					if a.Space != xmlscan.DeclarationSpace {
						p.attrs = append(p.attrs, xml.Attr{Name: xml.Name{Space: a.Space, Local: a.Name}, Value: blank.Replace(a.Value)})
					}
				}
				got = append(got, p)
			case xmlscan.EndTag:
				got = append(got, piece{name: xml.Name{Space: s.Space, Local: s.Name}, end: true})
			case xmlscan.Text:
				got = addText(got, s.Text)
			}
		}
		if fault := s.Err(); fault != nil {
			require.NotContains(t, sound, text, fault)
			require.NotEmpty(t, fault.Reason)
			require.LessOrEqual(t, fault.Line, strings.Count(text, "\n")+1)
			return
		}
		text = strings.TrimPrefix(text, "\ufeff")
		require.Equal(t, standard(t, text), got)
		again, err := xmlscan.Open(strings.NewReader(text))
		require.NoError(t, err)
		require.Equal(t, text, xmlscan.NewTree(again).String())
	})
}

func addText(all []piece, text string) []piece {
	if n := len(all); n > 0 && all[n-1].name.Local == "" {
		all[n-1].text += text
		return all
	}
	if text == "" {
		return all
	}
	return append(all, piece{text: text})
}

// standard is a document as encoding/xml reads it.
func standard(t *testing.T, text string) (all []piece) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	depth := 0
	for {
		token, err := d.Token()
		if err == io.EOF {
			return all
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			depth++
			p := piece{name: token.Name}
			for _, a := range token.Attr {
				if a.Name.Space == "xmlns" || a.Name.Space == "" && a.Name.Local == "xmlns" {
					continue
				}
				a.Value = blank.Replace(a.Value)
				p.attrs = append(p.attrs, a)
			}
			all = append(all, p)
		case xml.EndElement:
			depth--
			all = append(all, piece{name: token.Name, end: true})
		case xml.CharData:
			if depth > 0 {
				all = addText(all, string(token))
			}
		}
	}
}
