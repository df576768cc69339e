package transport_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/datacite-go/datacite-go/internal/transport"
)

func TestEncodeParams(t *testing.T) {
	got := transport.EncodeParams(url.Values{"query": {`titles.title:"a b" +c`}, "page[size]": {"5"}, "fields[dois]": {"doi,titles"}})
	assert.Equal(t, `fields%5Bdois%5D=doi%2Ctitles&page%5Bsize%5D=5&query=titles.title%3A%22a%20b%22%20%2Bc`, got)
}

func TestParamsJSON(t *testing.T) {
	got := must(transport.ParamsJSON(url.Values{"query": {"a +b"}, "page[size]": {"5"}, "page[cursor]": {"1"}, "fields[dois]": {"doi"}, "x": {"1", "2"}, "none": {}}))(t)
	assert.JSONEq(t, `{"query":"a +b","page":{"size":"5","cursor":"1"},"fields":{"dois":"doi"},"x":["1","2"]}`, string(got))

	assert.ErrorContains(t, failure(transport.ParamsJSON(url.Values{"page": {"1"}, "page[size]": {"5"}})), "a value and an object at once")
}
