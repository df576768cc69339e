package jsonlex_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/internal/jsonlex"
)

type decoder = jsonlex.Decoder

// A work has members of all kinds.
type work struct {
	Text  string   `json:"text,omitzero"`
	Word  string   `json:"word,omitzero"`
	Count int      `json:"count,omitzero"`
	Open  bool     `json:"open,omitzero"`
	Raw   string   `json:"raw,omitzero"`
	Texts []string `json:"texts,omitzero"`
	Years []int    `json:"years,omitzero"`
	Data  []byte   `json:"data,omitzero"`
	Owner person   `json:"owner,omitzero"`
	Staff []person `json:"staff,omitzero"`
	Views []view   `json:"views,omitzero"`
	Inner []work   `json:"inner,omitzero"`
}

type person struct {
	Name string `json:"name,omitzero"`
	Born int    `json:"born,omitzero"`
}

type view struct {
	Country string `json:"country,omitzero"`
	Count   int    `json:"count,omitzero"`
}

var personJSON = jsonlex.NewObject(
	jsonlex.Field("name", func(d *decoder, p *person) { p.Name = d.Text() }),
	jsonlex.Field("born", func(d *decoder, p *person) { p.Born = d.Int() }),
).Or(func(d *decoder, p *person) { p.Name = d.Text() })

var (
	readTexts = jsonlex.List[[]string](jsonlex.TextItem)
	// readStaff leaves out persons without a name.
	readStaff = jsonlex.List[[]person](func(d *decoder, p *person) bool { return personJSON.Item(d, p) && p.Name != "" })
	readViews = jsonlex.Map[[]view](func(d *decoder, country []byte, v *view) {
		v.Country = d.Copy(country)
		v.Count = d.Int()
	})
	readInner = jsonlex.List[[]work](func(d *decoder, w *work) bool {
		workJSON.Read(d, w)
		return true
	})
	workMembers = []jsonlex.Member[work]{
		jsonlex.Field("text", func(d *decoder, w *work) { w.Text = d.Text() }),
		jsonlex.Field("word", func(d *decoder, w *work) { w.Word = d.Word() }),
		jsonlex.Field("count", func(d *decoder, w *work) { w.Count = d.Int() }),
		jsonlex.Field("open", func(d *decoder, w *work) { w.Open = d.Truth() }),
		jsonlex.Field("raw", func(d *decoder, w *work) { w.Raw = string(d.Raw()) }),
		jsonlex.Field("texts", func(d *decoder, w *work) { w.Texts = readTexts(d) }),
		jsonlex.Field("years", func(d *decoder, w *work) { d.Each(func() { w.Years = append(w.Years, d.Int()) }) }),
		jsonlex.Field("data", func(d *decoder, w *work) { w.Data = d.Base64() }),
		jsonlex.Of("owner", func(w *work) *person { return &w.Owner }, personJSON),
		jsonlex.Field("staff", func(d *decoder, w *work) { w.Staff = readStaff(d) }),
		jsonlex.Field("views", func(d *decoder, w *work) { w.Views = readViews(d) }),
		jsonlex.Field("inner", func(d *decoder, w *work) { w.Inner = readInner(d) }),
	}
)

var workJSON *jsonlex.Object[work]

func init() { workJSON = jsonlex.NewObject(workMembers...) }

// A decoder makes of each value what it can, and knows the places of what it left out.
func TestDecoder(t *testing.T) {
	long := strings.Repeat("w", 65)
	for _, tt := range []struct{ text, want, odd string }{
		{`{}`, `{}`, ""}, {`null`, `{}`, ""}, {`[{"count":1}]`, `{}`, "it"}, {`"text"`, `{}`, "it"}, {`1`, `{}`, "it"},
		{`{"other":1,"count":2,"more":{"count":3}}`, `{"count":2}`, "other more"},
		{`{"text":"a\u0062c"}`, `{"text":"abc"}`, ""}, {`{"text":1.50}`, `{"text":"1.50"}`, ""},
		{`{"text":true}`, `{"text":"true"}`, ""}, {`{"text": "a" }`, `{"text":"a"}`, ""}, {`{"text":null}`, `{}`, ""},
		{`{"text":["a"]}`, `{}`, "text"}, {`{"text":{"a":1}}`, `{}`, "text"},
		{`{"word":"abc","inner":[{"word":"abc"}]}`, `{"word":"abc","inner":[{"word":"abc"}]}`, ""},
		{`{"word": "abcdefgh" ,"inner":{"word":"abcdefgi"}}`, `{"word":"abcdefgh","inner":[{"word":"abcdefgi"}]}`, ""},
		{`{"word":""}`, `{}`, ""}, {`{"word":"","text":"` + long + `"}`, `{"text":"` + long + `"}`, ""},
		{`{"word":7}`, `{"word":"7"}`, ""},
		{`{"word":"a\"b","inner":[{"word":"a\\"},{"word":"a"}]}`,
			`{"word":"a\"b","inner":[{"word":"a\\"},{"word":"a"}]}`, ""},
		{`{"word":"` + long[1:] + `","text":"a"}`, `{"text":"a","word":"` + long[1:] + `"}`, ""},
		{`{"word":"` + long + `","text":"a"}`, `{"text":"a","word":"` + long + `"}`, ""},
		{`{"word":"` + long + long + `","text":"a"}`, `{"text":"a","word":"` + long + long + `"}`, ""},
		{`{"count":7}`, `{"count":7}`, ""}, {`{"count":-7}`, `{"count":-7}`, ""}, {`{"count":"7"}`, `{"count":7}`, ""},
		{`{"count":7e2}`, `{"count":700}`, ""}, {`{"count":null}`, `{}`, ""}, {`{"count":""}`, `{}`, ""},
		{`{"count":7.5}`, `{}`, "count"}, {`{"count":"x"}`, `{}`, "count"}, {`{"count":true}`, `{}`, "count"},
		{`{"count":[7]}`, `{}`, "count"},
		{`{"count":4294967301}`, fmt.Sprintf(`{"count":%d}`, min(4294967301, int64(math.MaxInt))), ""}, // not 5 with 32 bits
		{`{"open":true}`, `{"open":true}`, ""}, {`{"open":false}`, `{}`, ""}, {`{"open":"true"}`, `{"open":true}`, ""},
		{`{"open":null}`, `{}`, ""}, {`{"open":"yes"}`, `{}`, "open"}, {`{"open":1}`, `{}`, "open"},
		{`{"open":[true]}`, `{}`, "open"},
		{`{"raw": {"a" : [1, 2]} ,"count":1}`, `{"count":1,"raw":"{\"a\" : [1, 2]}"}`, ""},
		{`{"raw":null}`, `{"raw":"null"}`, ""},
		{`{"texts":["a",1,null,["b"],{"c":1},"d"],"inner":{"texts":["e"]}}`,
			`{"texts":["a","1","d"],"inner":[{"texts":["e"]}]}`, "texts[3] texts[4]"},
		{`{"texts":[]}`, `{"texts":[]}`, ""}, {`{"texts":null}`, `{}`, ""}, {`{"texts":""}`, `{"texts":[]}`, ""},
		{`{"texts":"a"}`, `{"texts":["a"]}`, ""}, {`{"texts":1}`, `{"texts":["1"]}`, ""},
		{`{"texts":{"a":1}}`, `{"texts":[]}`, "texts"}, {`{"texts": [ "a" , "b" ] }`, `{"texts":["a","b"]}`, ""},
		{`{"years":[1,2]}`, `{"years":[1,2]}`, ""}, {`{"years":3}`, `{"years":[3]}`, ""}, {`{"years":[]}`, `{}`, ""},
		{`{"data":"QUJD","count":1}`, `{"count":1,"data":"QUJD"}`, ""}, {`{"data":"","count":1}`, `{"count":1}`, ""},
		{`{"data":"QUI=","count":1}`, `{"count":1,"data":"QUI="}`, ""}, {`{"data":"QUJ","count":1}`, `{"count":1}`, ""},
		{`{"data":null,"count":1}`, `{"count":1}`, ""}, {`{"data":[1],"count":1}`, `{"count":1}`, "data"},
		{`{"owner":{"name":"A","born":1},"owner":{"name":"B"}}`, `{"owner":{"name":"B"}}`, ""},
		{`{"owner":"A"}`, `{"owner":{"name":"A"}}`, ""}, {`{"owner":null}`, `{}`, ""}, {`{"owner":["A"]}`, `{}`, "owner"},
		{`{"staff":[{"name":"A"},"B",null,["C"],{"born":2,"name":"D"},{"born":3},{"name":"E"}]}`,
			`{"staff":[{"name":"A"},{"name":"B"},{"name":"D","born":2},{"name":"E"}]}`, "staff[3]"},
		{`{"staff":{"name":"A"},"count":1}`, `{"count":1,"staff":[{"name":"A"}]}`, ""},
		{`{"staff":"A"}`, `{"staff":[{"name":"A"}]}`, ""},
		{`{"views":{"us":1,"de":2, "at" : 3,"other":4,"":5},"count":1}`, `{"count":1,"views":[{"country":"us","count":1},` +
			`{"country":"de","count":2},{"country":"at","count":3},{"country":"other","count":4},{"count":5}]}`, ""},
		{`{"views":{"u{":1,"{u":2,"Us":3,"sU":4,"u":5,"az":6,"za":7,"a\"":8,"us:a":9}}`, `{"views":[{"country":"u{","count":1},` +
			`{"country":"{u","count":2},{"country":"Us","count":3},{"country":"sU","count":4},{"country":"u","count":5},` +
			`{"country":"az","count":6},{"country":"za","count":7},{"country":"a\"","count":8},` +
			`{"country":"us:a","count":9}]}`, ""},
		{`{"views":{}}`, `{"views":[]}`, ""}, {`{"views":null}`, `{}`, ""}, {`{"views":[1],"count":1}`, `{"count":1}`, ""},
		{`{"inner":[{"staff":["A"],"inner":[{"staff":["B","C"]},{"count":1}]},{"staff":["D"]}],"staff":["E"]}`,
			`{"staff":[{"name":"E"}],"inner":[{"staff":[{"name":"A"}],"inner":[{"staff":[{"name":"B"},{"name":"C"}]},` +
				`{"count":1}]},{"staff":[{"name":"D"}]}]}`, ""},
	} {
		check := func(w *work, odd []int64) {
			got, err := json.Marshal(w)
			require.NoError(t, err)
			assert.JSONEq(t, tt.want, string(got), tt.text)
			var places []string
			for _, at := range odd {
				path, _ := jsonlex.At([]byte(tt.text), at)
				places = append(places, strings.Replace(path, "", "it", max(0, 1-len(path))))
			}
			assert.Equal(t, tt.odd, strings.Join(places, " "), tt.text)
		}
		got := work{Text: "of before", Staff: []person{{}}}
		require.NoError(t, jsonlex.Unmarshal([]byte(tt.text), &got, func(d *decoder, w *work) {
			workJSON.Read(d, w)
			check(w, d.Odd().Values)
		}), tt.text)
		for _, src := range []io.Reader{strings.NewReader(tt.text), sevens{strings.NewReader(tt.text)},
			iotest.OneByteReader(strings.NewReader(tt.text))} {
			require.NoError(t, jsonlex.Decode(src, 1<<20, func(d *decoder) error {
				var got work
				workJSON.Read(d, &got)
				check(&got, d.Odd().Values)
				return nil
			}), "%T: %s", src, tt.text)
		}
	}
	assert.ErrorIs(t, jsonlex.Decode(strings.NewReader("{}"), 1, func(*decoder) error { return io.ErrNoProgress }),
		io.ErrNoProgress)
	later := 0
	require.NoError(t, jsonlex.Decode(strings.NewReader(`{"a":1}`), 1, func(d *decoder) error {
		d.Later(func() { later++ })
		d.Skip()
		return nil
	}))
	assert.Equal(t, 1, later, "the end of the input settles it")
	assert.Error(t, jsonlex.Decode(strings.NewReader("{} {}"), 1, func(d *decoder) error {
		d.Skip()
		return nil
	}))
}

// A stored work is a work, and what the service adds to it.
type stored struct {
	id   string
	work work
}

func TestMembersInside(t *testing.T) {
	o := jsonlex.NewObject(append(jsonlex.Inside(workMembers, func(s *stored) *work { return &s.work }),
		jsonlex.Field("id", func(d *decoder, s *stored) { s.id = d.Text() }))...).Open()
	var got stored
	require.NoError(t, jsonlex.Unmarshal([]byte(`{"id":"a","links":[1],"count":2}`), &got, func(d *decoder, s *stored) {
		o.Read(d, s)
		assert.Empty(t, d.Odd().Values, "the object is open")
	}))
	assert.Equal(t, stored{"a", work{Count: 2}}, got)
}

// Words that were read before cost nothing.
func TestWords(t *testing.T) {
	words := []string{"findable", "registered", "draft", "DOI", "URL", "en", "x", "Text", "Dataset", "IsPartOf", "IsVersionOf"}
	text, err := json.Marshal(append(words, words...))
	require.NoError(t, err)
	require.NoError(t, jsonlex.Decode(strings.NewReader(string(text)), 100_000, func(d *decoder) error {
		left := d.Budget().Left()
		d.List()
		for i := 0; d.Element(i); i++ {
			assert.Equal(t, words[i%len(words)], d.Word())
			if i == len(words)-1 {
				left = d.Budget().Left()
			}
		}
		assert.Equal(t, left, d.Budget().Left())
		return nil
	}))
}

// Pages that are read one after another take the memory of one.
func TestReuse(t *testing.T) {
	page := `{"staff":[` + strings.Repeat(`{"name":"A","born":1},`, 50) + `{"name":"A"}]}`
	text := "[" + strings.Repeat(page+",", 100) + `{"staff":["B"]}]`
	require.NoError(t, jsonlex.Decode(strings.NewReader(text), 100_000, func(d *decoder) error {
		var first, last work
		d.List()
		for i := 0; d.Element(i); i++ {
			d.Reuse()
			last = work{}
			if workJSON.Read(d, &last); i == 0 {
				first = last
			}
		}
		assert.Equal(t, []person{{Name: "B"}}, last.Staff)
		assert.Same(t, &first.Staff[0], &last.Staff[0])
		return nil
	}))
}

func TestBudget(t *testing.T) {
	b := jsonlex.NewBudget(10)
	require.NoError(t, b.Spend(10))
	require.ErrorIs(t, b.Spend(1), jsonlex.ErrTooLarge)
	b.GiveBack(4)
	assert.EqualValues(t, 4, b.Left())
	require.NoError(t, b.Spend(4))
	b.Renew()
	assert.EqualValues(t, 10, b.Left())

	for _, text := range []string{
		`{"texts":[` + strings.Repeat("1,", 10_000) + "1]}",
		`{"staff":[` + strings.Repeat(`"A",`, 10_000) + "1]}",
		`{"views":{` + strings.Repeat(`"us":1,`, 10_000) + `"us":1}}`, `{"text":"` + strings.Repeat("a", 10_000) + `"}`} {
		err := jsonlex.Decode(strings.NewReader(text), 9000, func(d *decoder) error {
			workJSON.Read(d, &work{})
			return nil
		})
		assert.ErrorIs(t, err, jsonlex.ErrTooLarge, "%.20s", text)
	}
}
