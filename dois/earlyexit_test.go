package dois_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/query"
)

// bodies counts the responses that are open.
type bodies struct {
	http.RoundTripper
	opened, open atomic.Int64
}

func (b *bodies) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		b.opened.Add(1)
		b.open.Add(1)
		res.Body = &counted{ReadCloser: res.Body, open: &b.open}
	}
	return res, err
}

type counted struct {
	io.ReadCloser
	open   *atomic.Int64
	closed bool
}

func (c *counted) Close() error {
	if !c.closed {
		c.closed = true
		c.open.Add(-1)
	}
	return c.ReadCloser.Close()
}

// TestLoopsLeftInAnyWayLeaveNothingBehind leaves loops in every possible way. The bubble of synctest ends only
// when every goroutine in it has ended.
func TestLoopsLeftInAnyWayLeaveNothingBehind(t *testing.T) {
	for name, leave := range map[string]func(t *testing.T, client *dois.Client){
		"break after the first record": func(t *testing.T, client *dois.Client) {
			for _, err := range client.All(t.Context(), nil) {
				require.NoError(t, err)
				break
			}
		},
		"break in the second page": func(t *testing.T, client *dois.Client) {
			n := 0
			for _, err := range client.All(t.Context(), &dois.ListOptions{Sort: query.ByName, Page: query.Page{Size: 50}}) {
				require.NoError(t, err)
				if n++; n == 70 {
					break
				}
			}
		},
		"break between pages": func(t *testing.T, client *dois.Client) {
			for _, err := range client.Pages(t.Context(), nil) {
				require.NoError(t, err)
				break
			}
		},
		"cancel in a loop": func(t *testing.T, client *dois.Client) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			n := 0
			for _, err := range client.All(ctx, &dois.ListOptions{Page: query.Page{Size: 50}}) {
				if err != nil {
					require.ErrorIs(t, err, context.Canceled)
					return
				}
				if n++; n == 60 {
					cancel()
				}
			}
			t.Error("the loop went on")
		},
		"a panic in the loop": func(t *testing.T, client *dois.Client) {
			defer func() { assert.Equal(t, "mine", recover()) }()
			for range client.All(t.Context(), nil) {
				panic("mine")
			}
		},
		"to the end": func(t *testing.T, client *dois.Client) {
			times, err := walked(t.Context(), client, nil)
			require.NoError(t, err)
			onceEach(t, times, 300)
		},
		"one page": func(t *testing.T, client *dois.Client) {
			_, err := client.List(t.Context(), nil)
			require.NoError(t, err)
		},
		"one that is not there": func(t *testing.T, client *dois.Client) {
			_, err := client.Get(t.Context(), "10.5072/none", nil)
			require.ErrorIs(t, err, datacite.ErrNotFound)
		},
		"a document, closed unread": func(t *testing.T, client *dois.Client) {
			_, err := client.Create(t.Context(), &dois.Draft{DOI: "10.5072/xml", MetadataXML: []byte(xmlRecord)})
			require.NoError(t, err)
			body, err := client.Open(t.Context(), "10.5072/xml", dois.DataCiteXML)
			require.NoError(t, err)
			require.NoError(t, body.Close())
		},
		"a document in a format that is not there": func(t *testing.T, client *dois.Client) {
			_, err := client.Open(t.Context(), "10.5072/r0000001", dois.DataCiteXML)
			require.ErrorIs(t, err, dois.ErrNoFormat)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Documented, NoPort: true})
				for i := range 300 {
					seed(t, srv, fmt.Sprintf(`{"doi":%q,"titles":[{"title":%q}]}`, recordName(i), strings.Repeat("long ", 500)))
				}
				line := &bodies{RoundTripper: srv.HTTPClient().Transport}
				client, err := dois.NewClient(datacite.Config{
					Service:  datacite.Service{API: srv.URL},
					Username: datacitetest.Username, Password: datacitetest.Password, HTTPClient: &http.Client{Transport: line},
				})
				require.NoError(t, err)
				leave(t, client)
				assert.Positive(t, line.opened.Load())
				assert.Zero(t, line.open.Load(), "bodies left open")
			})
		})
	}
}

// TestRecordsComeWhileThePageArrives sends a page record by record: each must
// have been given before the next one is sent.
func TestRecordsComeWhileThePageArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := make(chan string)
		client, err := dois.NewClient(datacite.Config{
			Service:    datacite.Service{API: "http://localhost"},
			HTTPClient: &http.Client{Transport: dripping{seen}},
		})
		require.NoError(t, err)
		for r, err := range client.All(t.Context(), nil) {
			require.NoError(t, err)
			seen <- r.DOI
		}
	})
}

// dripping responds with three records, and sends one only after it has heard of
// the one before.
type dripping struct{ seen chan string }

func (d dripping) RoundTrip(r *http.Request) (*http.Response, error) {
	body, page := io.Pipe()
	go func() {
		_, _ = io.WriteString(page, `{"data":[`)
		for i := range 3 {
			comma := ","
			if i == 2 {
				comma = ""
			}
			_, _ = fmt.Fprintf(page, `{"id":%q,"attributes":{}}%s`, recordName(i), comma)
			<-d.seen
		}
		_, _ = io.WriteString(page, `],"meta":{"total":3}}`)
		_ = page.Close()
	}()
	return &http.Response{
		StatusCode: 200, ProtoMajor: 1, ProtoMinor: 1, Request: r, ContentLength: -1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: body,
	}, nil
}
