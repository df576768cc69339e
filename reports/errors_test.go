package reports_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/datacitetest"
	"github.com/datacite-go/datacite-go/reports"
)

// client returns a client of srv with other options than the server's own.
func client(t *testing.T, srv *datacitetest.Server, opts *datacite.Config) *reports.Client {
	t.Helper()
	cfg := datacite.Config{}
	if opts != nil {
		cfg = *opts
	}
	cfg.Service.API = srv.URL
	c, err := reports.NewClient(cfg)
	require.NoError(t, err)
	return c
}

// responding returns a client of a service that gives every request the same response.
func responding(t *testing.T, status int, contentType, body string, token ...string) *reports.Client {
	t.Helper()
	return respondingWith(t, &datacite.Config{Token: append(token, "any")[0]}, status, contentType,
		func(context.Context) io.ReadCloser { return io.NopCloser(strings.NewReader(body)) })
}

func jwt(expires time.Time) string {
	return "e30." + base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"exp":%d}`, expires.Unix())) + ".c2ln"
}

func TestAuthentication(t *testing.T) {
	eachBehaviour(t, func(t *testing.T, srv *datacitetest.Server) {
		t.Run("401 no token", func(t *testing.T) {
			_, err := client(t, srv, nil).Put(t.Context(), id, report("Example", 1))
			require.ErrorIs(t, err, datacite.ErrUnauthorized)
			assert.Empty(t, srv.Requests(), "nothing was sent")
			for token, says := range map[string]string{"": "", "secret-of-mine": "not a JSON web token"} {
				_, err = client(t, srv, &datacite.Config{Token: token}).Submit(t.Context(), header("Example", time.October),
					func(func(reports.Dataset, error) bool) { t.Error("known before the source is read") }, nil)
				require.ErrorIs(t, err, datacite.ErrUnauthorized)
				assert.ErrorContains(t, err, says)
				assert.NotContains(t, err.Error(), "secret")
			}
			assert.Empty(t, srv.Requests())
		})
		t.Run("403 token expired", func(t *testing.T) {
			expired := client(t, srv, &datacite.Config{Token: srv.Token(srv.Now().Add(-time.Hour))})
			_, err := expired.Put(t.Context(), id, report("Example", 1))
			require.ErrorIs(t, err, reports.ErrTokenExpired)
			e, _ := errors.AsType[*datacite.Error](err)
			if srv.Behaviour == datacitetest.Deployed {
				assert.Equal(t, 401, e.StatusCode, "the token's own expiry tells")
				return
			}
			require.ErrorIs(t, err, datacite.ErrForbidden)
			assert.Equal(t, 403, e.StatusCode)
		})
		t.Run("reads need none", func(t *testing.T) {
			_, err := client(t, srv, nil).List(t.Context(), nil)
			require.NoError(t, err)
		})
		t.Run("reads send none", func(t *testing.T) {
			source := func(context.Context) (string, error) { panic("asked for a token to read") }
			_, err := client(t, srv, &datacite.Config{TokenSource: source}).List(t.Context(), nil)
			require.NoError(t, err)
		})
		t.Run("a token source is asked before each write", func(t *testing.T) {
			asked := 0
			source := func(context.Context) (string, error) {
				asked++
				return srv.Token(srv.Now().Add(year)), nil
			}
			c := client(t, srv, &datacite.Config{TokenSource: source})
			for range 2 {
				_, err := c.Put(t.Context(), id, report("Example", 1))
				require.NoError(t, err)
			}
			assert.Equal(t, 2, asked)

			failing := func(context.Context) (string, error) {
				return "", &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}
			}
			c = client(t, srv, &datacite.Config{TokenSource: failing})
			_, submitted := c.Submit(t.Context(), report("Example", 1).Header, reports.Source(nil), nil)
			_, created := c.Create(t.Context(), report("Example", 1))
			for _, err := range []error{submitted, created} {
				require.ErrorIs(t, err, os.ErrDeadlineExceeded)
				assert.NotErrorIs(t, err, datacite.ErrUnauthorized)
				assert.True(t, datacite.Temporary(err))
			}

			ctx, cancel := context.WithCancel(t.Context())
			c = client(t, srv, &datacite.Config{TokenSource: func(context.Context) (string, error) {
				cancel()
				return failing(ctx)
			}})
			_, err := c.Submit(ctx, report("Example", 1).Header, reports.Source(nil), nil)
			require.ErrorIs(t, err, context.Canceled)
		})
	})
}

// The deployed service says less than the specification; the client says the same.
func TestTokensOnTheDeployedService(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		status     int
		token      string
		want, not  error
	}{
		{"401 and the token's time is over",
			`{"errors":[{"status":"401","title":"You are not authorized to access this ` +
				`resource."}]}`, 401, jwt(time.Now().Add(-time.Minute)), reports.ErrTokenExpired, nil},
		{"401 and it is not", `{"errors":[{"status":"401","title":"You are not authorized to access this resource."}]}`, 401,
			jwt(time.Now().Add(time.Hour)), datacite.ErrUnauthorized, reports.ErrTokenExpired},
		{"401 and nobody knows", `{}`, 401, "opaque", datacite.ErrUnauthorized, reports.ErrTokenExpired},
		{"403 and the token is good", `{"errors":[{"title":"no"}]}`, 403, jwt(time.Now().Add(time.Hour)),
			datacite.ErrForbidden, reports.ErrTokenExpired},
		{"403 with the page of a gateway", "<html><title>403 Forbidden</title></html>", 403, "opaque",
			datacite.ErrRateLimited, reports.ErrTokenExpired},
		{"403 with a page, and the time is over", "<html><title>403 Forbidden</title></html>", 403,
			jwt(time.Now().Add(-time.Hour)), datacite.ErrRateLimited, datacite.ErrForbidden},
		{"403 and the service says so", `{"errors":[{"title":"Token has expired"}]}`, 403, jwt(time.Now().Add(time.Hour)),
			reports.ErrTokenExpired, nil},
		{"422 without a token", `{"errors":[{"status":"422","title":"undefined method ` + "`uid'" + ` for nil:NilClass"}]}`,
			422, "opaque", datacite.ErrUnauthorized, datacite.ErrInvalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := responding(t, tt.status, "", tt.body, tt.token)
			_, err := c.Put(t.Context(), id, report("Example", 1))
			require.ErrorIs(t, err, tt.want)
			if tt.not != nil {
				assert.NotErrorIs(t, err, tt.not)
			}
			assert.NotContains(t, err.Error(), tt.token)
		})
	}
}

func TestBadInputIsNotSent(t *testing.T) {
	srv := server(t)
	c := srv.Reports()
	change := func(edit func(*reports.Report)) *reports.Report {
		r := report("Example", 2)
		edit(r)
		return r
	}
	instance := func(r *reports.Report) *reports.Instance { return &r.Datasets[1].Performance[0].Instance[0] }
	codes := map[datacite.Code]int{}
	for _, tt := range []struct {
		name   string
		report *reports.Report
		fault  string
	}{
		{"50,001 datasets in one body", &reports.Report{Header: header("Example", time.October),
			Datasets: slices.Repeat(all(1),
				50_001)}, "report-datasets: has 50001 entries, more than the 50000 that one request may carry"},
		{"no report", nil, "report: is nil"},
		{"no datasets", change(func(r *reports.Report) { r.Datasets = nil }), "report-datasets: is empty"},
		{"unknown metric", change(func(r *reports.Report) { instance(r).MetricType = "total-downloads" }),
			`report-datasets[1].performance[0].instance[0].metric-type: is "total-downloads"; the service knows ` +
				`total-dataset-requests`},
		{"unknown access method", change(func(r *reports.Report) { instance(r).AccessMethod = "robot" }),
			`instance[0].access-method: is "robot"`},
		{"negative count", change(func(r *reports.Report) { instance(r).Count = -1 }), "instance[0].count: is -1"},
		{"negative count of a country", change(func(r *reports.Report) { instance(r).CountryCounts[0].Count = -1 }),
			`country-counts["de"]: is -1`},
		{"country in capitals", change(func(r *reports.Report) { instance(r).CountryCounts[0].Country = "DE" }),
			`country-counts["DE"]: is not a lowercase two-letter country code`},
		{"country twice", change(func(r *reports.Report) { instance(r).CountryCounts[1].Country = "de" }),
			`country-counts["de"]: occurs twice`},
		{"country twice, far apart", change(func(r *reports.Report) {
			instance(r).CountryCounts = reports.CountryCounts{{"us", 1}, {"de", 1}, {"us", 1}}
		}), `country-counts["us"]: occurs twice`},
		{"end before begin", change(func(r *reports.Report) {
			r.Header.ReportingPeriod = reports.Period{"1999-10-31", "1999-10-01"}
		}), "report-header.reporting-period.end-date: 1999-10-01 is before begin-date 1999-10-31"},
		{"end before begin in a dataset",
			change(func(r *reports.Report) {
				r.Datasets[0].Performance[0].Period.EndDate = "1999-09-01"
			}), "report-datasets[0].performance[0].period.end-date: 1999-09-01 is before"},
		{"two datasets with one bad period", change(func(r *reports.Report) {
			r.Datasets[0].Performance[0].Period.EndDate, r.Datasets[1].Performance[0].Period.EndDate = "x", "x"
		}), "2 faults:\n\treport-datasets[0].performance[0].period.end-date: "},
		{"a period that is none, after another", change(func(r *reports.Report) {
			r.Datasets[0].Performance = append(r.Datasets[0].Performance,
				reports.Performance{Period: reports.Period{"1999-10-01", "x"}})
		}), `report-datasets[0].performance[1].period.end-date: is "x", not a date YYYY-MM-DD`},
		{"not a date", change(func(r *reports.Report) { r.Header.Created = "October" }),
			`report-header.created: is "October", not a date`},
		{"two months", change(func(r *reports.Report) { r.Header.ReportingPeriod.EndDate = "1999-11-30" }),
			"is not within one month"},
		{"no report-id", change(func(r *reports.Report) { r.Header.ReportID = " " }), "report-header.report-id: is empty"},
		{"no created", change(func(r *reports.Report) { r.Header.Created = "" }), "report-header.created: is empty"},
		{"no release", change(func(r *reports.Report) { r.Header.Release = "" }), "report-header.release: is empty"},
		{"no creator", change(func(r *reports.Report) { r.Header.CreatedBy = "" }), "report-header.created-by: is empty"},
		{"creator that ends in an umlaut", change(func(r *reports.Report) { r.Header.CreatedBy = "Repositorä" }),
			"ends with a character that the service refuses"},
		{"creator that ends badly", change(func(r *reports.Report) { r.Header.CreatedBy = "Example " }),
			"ends with a character that the service refuses"},
		{"another release", change(func(r *reports.Report) { r.Header.Release = "RD1" }), `report-header.release: is "RD1"`},
		{"another data type", change(func(r *reports.Report) { r.Datasets[0].DataType = "Dataset" }),
			`report-datasets[0].data-type: is "Dataset"`},
		{"no identifier", change(func(r *reports.Report) { r.Datasets[0].DatasetID = nil }),
			"report-datasets[0].dataset-id: is empty"},
		{"blank identifier", change(func(r *reports.Report) { r.Datasets[0].DatasetID[0].Value = " " }),
			"report-datasets[0].dataset-id[0].value: is empty"},
		{"unknown identifier type", change(func(r *reports.Report) { r.Datasets[0].PublisherID[0].Type = "ror" }),
			`publisher-id[0].type: is "ror"; the service accepts isni, orcid, grid, urn, client-id; the list may be empty`},
		{"broken UTF-8", change(func(r *reports.Report) { r.Datasets[0].Title = "a\xff" }),
			"report-datasets[0].dataset-title: is not valid UTF-8"},
		{"broken UTF-8 in every text", change(func(r *reports.Report) {
			d := &r.Datasets[0]
			d.Platform, d.Publisher, d.URI, d.YOP = "\xff", "\xff", "\xff", "\xff"
			d.DatasetID[0].Value, d.PublisherID[0].Value = "\xff", "\xff"
		}), "6 faults:\n\treport-datasets[0].platform: is not valid UTF-8" +
			"\n\treport-datasets[0].publisher: is not valid UTF-8" +
			"\n\treport-datasets[0].uri: is not valid UTF-8\n\treport-datasets[0].yop: is not valid UTF-8" +
			"\n\treport-datasets[0].dataset-id[0].value: is not valid UTF-8" +
			"\n\treport-datasets[0].publisher-id[0].value: is not valid UTF-8"},
		{"broken UTF-8 in the header", change(func(r *reports.Report) {
			h := &r.Header
			h.ReportName, h.ReportID, h.CreatedBy = "\xff", "\xff", "\xffa"
		}), "3 faults:\n\treport-header.report-name: is not valid UTF-8\n\treport-header.report-id: is not valid UTF-8" +
			"\n\treport-header.created-by: is not valid UTF-8"},
		{"broken UTF-8 in a filter, halves of a letter", change(func(r *reports.Report) {
			r.Header.ReportFilters = []reports.NameValue{{Name: "\xc3", Value: "\xbc"}}
		}), "report-header.report-filters[0].name: is not valid UTF-8\n\treport-header.report-filters[0].value: is not " +
			"valid UTF-8"},
		{"broken UTF-8 in an attribute",
			change(func(r *reports.Report) {
				r.Header.ReportAttributes = []reports.NameValue{{Value: "\xff"}}
			}), "report-header.report-attributes[0].value: is not valid UTF-8"},
		{"broken UTF-8 in lists", change(func(r *reports.Report) {
			d, bad := &r.Datasets[0], []reports.TypedValue{{Type: "proprietary", Value: "\xff"}}
			d.Dates, d.Contributors, d.Attributes = bad, []reports.TypedValue{{Type: "name", Value: "\xff"}}, bad
		}), "report-datasets[0].dataset-dates[0].value: is not valid " +
			"UTF-8\n\treport-datasets[0].dataset-contributors[0].value: is not valid " +
			"UTF-8\n\treport-datasets[0].dataset-attributes[0].value: is not valid UTF-8"},
		{"unknown date type", change(func(r *reports.Report) {
			r.Datasets[0].Dates = []reports.TypedValue{{Type: "created", Value: "2020"}}
		}),
			`dataset-dates[0].type: is "created"; the service accepts pub-date, first-accessed-online, proprietary`},
		{"long created", change(func(r *reports.Report) { r.Header.Created = reports.Date(strings.Repeat("1", 256)) }),
			"report-header.created: has 256 characters; the service stores 255"},
		{"long name", change(func(r *reports.Report) { r.Header.ReportName = strings.Repeat("1", 256) }),
			"report-header.report-name: has 256 characters"},
		{"Kosovo", change(func(r *reports.Report) { instance(r).CountryCounts[1].Country = "xk" }),
			`country-counts["xk"]: is not a country code of ISO 3166-1; an uncompressed report with it is refused`},
		{"month 13", change(func(r *reports.Report) { r.Header.ReportingPeriod = reports.Month(1999, 13) }),
			`report-header.reporting-period.begin-date: is "1999-13-01", not a date YYYY-MM-DD`},
		{"next year", change(func(r *reports.Report) {
			r.Header.ReportingPeriod = reports.Month(time.Now().Year()+1, time.March)
		}), "report-header.reporting-period.begin-date: is "},
		{"an entry of more than 16 MiB",
			change(func(r *reports.Report) {
				r.Datasets[1].Title = strings.Repeat("x", 16<<20)
			}), "report-datasets[1]: takes 16778"},
		{"an entry that escapes make longer",
			change(func(r *reports.Report) {
				r.Datasets[1].Title = strings.Repeat("<", 3<<20)
			}), "report-datasets[1]: takes 18875"},
		{"id that is no UUID", change(func(r *reports.Report) { r.ID = "1" }), "id: is not a UUID"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := c.Put(t.Context(), id, tt.report)
			require.ErrorIs(t, err, datacite.ErrInvalid)
			assert.ErrorContains(t, err, tt.fault)
			for _, f := range datacite.Findings(err) {
				codes[f.Code]++
			}
			_, isField := errors.AsType[*datacite.ValidationError](err)
			assert.True(t, isField)
			_, err = c.Create(t.Context(), tt.report)
			require.ErrorIs(t, err, datacite.ErrInvalid)
		})
	}
	assert.Equal(t, map[datacite.Code]int{"date": 11, "encoding": 18, "limit": 7, "missing": 8, "repeated": 2, "syntax": 1,
		"vocabulary": 8}, codes)
	most := reports.Report{Header: header("Example", time.October), Datasets: slices.Repeat(all(1), reports.MaxDatasets)}
	require.NoError(t, most.Validate())
	t.Run("all faults at once", func(t *testing.T) {
		r := report("", 2)
		r.Datasets[0].DataType = ""
		instance(r).MetricType = ""
		v, ok := errors.AsType[*datacite.ValidationError](r.Validate())
		require.True(t, ok)
		assert.Len(t, v.Findings, 3)
		assert.ErrorContains(t, v, "3 faults:\n\treport-header.created-by: is empty\n\treport-datasets[0].data-type")
	})
	for _, bad := range []string{"", "1", "../secret", "0148536f-bfbc-4775-b93c-524e91d0b9f6/x",
		"0148536f-bfbc-4775-b93c-524e91d0b9f6?x", "0148536fbfbc4775b93c524e91d0b9f6", strings.Repeat("x", 36)} {
		_, err := c.Get(t.Context(), bad)
		require.ErrorIs(t, err, datacite.ErrInvalid, bad)
		assert.Equal(t, "id", datacite.Findings(err)[0].Path)
		_, err = c.Put(t.Context(), bad, report("Example", 1))
		require.ErrorIs(t, err, datacite.ErrInvalid, bad)
		assert.Equal(t, "id", datacite.Findings(err)[0].Path)
	}
	assert.Empty(t, srv.Requests())
}

// What the service accepts is not refused.
func TestGoodInput(t *testing.T) {
	for end := range 128 {
		r := report("a"+string(rune(end)), 1)
		accepted := strings.ContainsRune("-._;()/:*~$=", rune(end)) || end >= '0' && end <= '9' ||
			end >= 'A' && end <= 'Z' || end >= 'a' && end <= 'z'
		assert.Equal(t, accepted, r.Validate() == nil, "a creator that ends with %q", end)
	}
	longest := report(strings.Repeat("a", 255), 1)
	longest.Header.ReportName, longest.Header.ReportID = strings.Repeat("ä", 255), strings.Repeat("ä", 255)
	require.NoError(t, longest.Validate())
	longest.Header.CreatedBy, longest.Header.ReportID = strings.Repeat("a", 256), strings.Repeat("ä", 256)
	assert.Len(t, datacite.Findings(longest.Validate()), 2)

	d := dataset(0)
	d.Performance[0].Instance[0].CountryCounts = reports.CountryCounts{{"de", 0}, {"fr", 7}}
	for _, list := range []struct {
		of    *[]reports.TypedValue
		types string
	}{
		{&d.DatasetID, "doi DOI proprietary uri"}, {&d.PublisherID, "isni orcid grid urn client-id"},
		{&d.Dates, "pub-date first-accessed-online proprietary"}, {&d.Contributors, "name orcid isni"},
		{&d.Attributes, "dataset-version dataset_type proprietary"},
	} {
		types := strings.Fields(list.types)
		validate := func(kind string) error {
			*list.of = append((*list.of)[:0], reports.TypedValue{Type: kind, Value: "10.5072/a"})
			r := reports.Report{Header: header("Example", time.October), Datasets: []reports.Dataset{d}}
			return r.Validate()
		}
		require.ErrorContains(t, validate("other"), `[0].type: is "other"; the service accepts `+strings.Join(types, ", "))
		for _, kind := range types {
			require.NoError(t, validate(kind))
		}
	}
}

func TestErrorsNameTheOperation(t *testing.T) {
	t.Setenv("DATACITE_LOCK_DIR", t.TempDir())
	broken := roundTripper(func(*http.Request) (*http.Response, error) { return nil, errLost })
	c, err := reports.NewClient(datacite.Config{Service: datacite.Test, Token: jwt(time.Now().Add(year)), MaxAttempts: 1,
		HTTPClient: &http.Client{Transport: broken}})
	require.NoError(t, err)
	ctx, r, custom := t.Context(), report("Example", 1), &datacite.Request{Method: "GET", Path: "/reports"}
	large := &reports.Report{Header: packed(r.Header), Datasets: r.Datasets}
	for op, call := range map[string]func() error{
		"reports.Get":                func() error { _, err := c.Get(ctx, id); return err },
		"reports.Open":               func() error { _, err := c.Open(ctx, id); return err },
		"reports.List":               func() error { _, err := c.List(ctx, nil); return err },
		"reports.All":                func() error { return lastError(c.All(ctx, nil)) },
		"reports.Create":             func() error { _, err := c.Create(ctx, r); return err },
		"reports.Create, compressed": func() error { _, err := c.Create(ctx, large); return err },
		"reports.Put":                func() error { _, err := c.Put(ctx, id, r); return err },
		"reports.Put, compressed":    func() error { _, err := c.Put(ctx, id, large); return err },
		"reports.Verify":             func() error { return c.Verify(ctx, &reports.Receipt{ReportID: id}) },
		"reports.Do":                 func() error { _, err := c.Do(ctx, custom); return err },
		"reports.Submit": func() error {
			_, err := c.Submit(ctx, r.Header, datasets(1), &reports.SubmitOptions{LockDir: t.TempDir(), MaxOutage: 1})
			return err
		},
	} {
		err := call()
		require.ErrorIs(t, err, errLost, op)
		assert.True(t, strings.HasPrefix(err.Error(), strings.TrimSuffix(op, ", compressed")+": "), err)
		assert.Equal(t, 1, strings.Count(err.Error(), "reports."), err)
	}
}

func TestStrangeResponses(t *testing.T) {
	const html = "<!DOCTYPE html><html><head><title>Maintenance</title></head></html>"
	for _, tt := range []struct{ name, contentType, body, reason string }{
		{"HTML", "text/html", html, "an HTML page: Maintenance"},
		{"HTML that says it is JSON", "application/json", html, "an HTML page: Maintenance"},
		{"empty", "application/json", "", "unexpected EOF"},
		{"text", "text/plain", "OK", "OK"},
		{"no text", "application/json", "\x1f\x8b\x08\x00garbage", "11 bytes that are not text"},
		{"text for a terminal", "text/plain", "a\x1b[31m\u202eb\u009b2J", "a [31m b 2J"},
		{"another object", "application/json", `{"data":[]}`, "no report with an id"},
		{"cut off", "application/json", `{"report":{"id":"`, "unexpected EOF"},
	} {
		t.Run("write/"+tt.name, func(t *testing.T) {
			_, err := responding(t, 200, tt.contentType, tt.body).Put(t.Context(), id, report("Example", 1))
			require.ErrorIs(t, err, datacite.ErrUnreadable)
			require.ErrorIs(t, err, datacite.ErrUnclear, "nothing half done without saying so")
			assert.ErrorContains(t, err, tt.reason)
		})
	}
	for _, body := range []string{html, "", "OK", `{"data":[]}`, `{"report":{"id":"`, `{"reports":[]`, `{"report":5}`,
		`{"report":{"report-datasets":{}}}`, `{"report":{"report-datasets":[{"yop":"2010"}`} {
		c := responding(t, 200, "application/json", body)
		_, err := c.Get(t.Context(), id)
		require.ErrorIs(t, err, datacite.ErrUnreadable, body)
		assert.NotErrorIs(t, err, datacite.ErrUnclear, "a read changes nothing")
		_, err = c.List(t.Context(), nil)
		require.ErrorIs(t, err, datacite.ErrUnreadable, body)
	}
}

func TestServiceThatNeverResponds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		never := roundTripper(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		c, err := reports.NewClient(datacite.Config{Service: datacite.Test, Token: "any",
			HTTPClient: &http.Client{Transport: never}, MaxAttempts: 1})
		require.NoError(t, err)
		start := time.Now()
		_, err = c.Put(t.Context(), id, report("Example", 1))
		require.ErrorIs(t, err, datacite.ErrUnclear)
		assert.Equal(t, 5*time.Minute, time.Since(start))
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestNewClientRefuses(t *testing.T) {
	source := func(context.Context) (string, error) { return "", nil }
	for name, tt := range map[string]struct {
		cfg   datacite.Config
		fault string
	}{
		"no address": {datacite.Config{}, "Config.Service.API: is empty"},
		"plain HTTP": {datacite.Config{Service: datacite.Service{API: "http://api.example.org"}}, "is not HTTPS"},
		"quoted token": {datacite.Config{Service: datacite.Test, Token: `"s3cret"`},
			"Config.Token: has quotes around it"},
		"token with blank": {datacite.Config{Service: datacite.Test, Token: "s3cret x"}, "Config.Token: has a blank"},
		"API key": {datacite.Config{Service: datacite.Test, Token: "DC.s3crets3crets3crets3crets3crets3c"},
			"Config.Token: is an API key"},
		"two tokens": {datacite.Config{Service: datacite.Test, Token: "s3cret", TokenSource: source}, "both set"},
		"negative":   {datacite.Config{Service: datacite.Test, MaxAttempts: -1}, "MaxAttempts: is negative"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := reports.NewClient(tt.cfg)
			require.ErrorIs(t, err, datacite.ErrInvalid)
			assert.ErrorContains(t, err, tt.fault)
			assert.NotContains(t, err.Error(), "s3cret")
		})
	}
}

// A 403 that does not say why means an expired token, unless the token says that it is valid.
func TestRefusedTokens(t *testing.T) {
	t.Setenv("DATACITE_LOCK_DIR", t.TempDir())
	for token, expired := range map[string]bool{
		"opaque": true, jwt(time.Now().Add(-time.Hour)): true, jwt(time.Now().Add(time.Hour)): false,
	} {
		_, err := responding(t, 403, "application/json", `{"errors":[{"title":"Access is denied"}]}`, token).Put(t.Context(),
			id, report("Example", 1))
		require.ErrorIs(t, err, datacite.ErrForbidden)
		assert.Equal(t, expired, errors.Is(err, reports.ErrTokenExpired), token)
	}
	token := ""
	c := respondingWith(t, &datacite.Config{TokenSource: func(context.Context) (string, error) { return token, nil }},
		403, "application/json", func(context.Context) io.ReadCloser {
			return io.NopCloser(strings.NewReader(`{"errors":[{"title":"Access is denied"}]}`))
		})
	for _, token = range []string{jwt(time.Now().Add(time.Hour)), "opaque"} {
		_, err := c.Put(t.Context(), id, report("Example", 1))
		assert.Equal(t, token == "opaque", errors.Is(err, reports.ErrTokenExpired), "each token for itself")
	}
}

func TestTokenExpiry(t *testing.T) {
	at := time.Date(2027, 3, 4, 5, 6, 7, 0, time.UTC)
	got, err := reports.TokenExpiry(jwt(at))
	require.NoError(t, err)
	assert.True(t, at.Equal(got))
	part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	for name, token := range map[string]string{
		"empty": "", "opaque": "secret", "quoted": `"a.b.c"`, "two parts": "a.b", "not base64": "a.!.c",
		"not JSON": "a." + part("x") + ".c",
		"no exp":   "a." + part(`{"uid":"x"}`) + ".c", "exp is text": "a." + part(`{"exp":"x"}`) + ".c",
	} {
		_, err := reports.TokenExpiry(token)
		require.Error(t, err, name)
		assert.Equal(t, "token", datacite.Findings(err)[0].Path)
		if token != "" {
			assert.NotContains(t, strings.TrimPrefix(err.Error(), "reports.TokenExpiry"), token)
		}
	}
}

// A submission that stopped for a lost response is unclear only if nobody could see
// what became of it.
func TestSubmitErrorIsItsState(t *testing.T) {
	lost := &datacite.Error{Op: "reports.Submit", Unclear: true, Err: context.DeadlineExceeded}
	states := map[reports.SubmitState]error{
		reports.SubmitIncomplete: nil, reports.SubmitUnclear: datacite.ErrUnclear, reports.SubmitDisturbed: reports.ErrBusy,
		reports.SubmitBroken: reports.ErrBroken,
	}
	for state, own := range states {
		err := error(&reports.SubmitError{State: state, Err: lost})
		assert.ErrorIs(t, err, datacite.ErrIncomplete, state)
		for _, sentinel := range []error{datacite.ErrUnclear, reports.ErrBusy, reports.ErrBroken} {
			assert.Equal(t, sentinel == own, errors.Is(err, sentinel), "%s, %v", state, sentinel)
		}
		assert.Equal(t, state != reports.SubmitBroken, datacite.Temporary(err), state)
		assert.Equal(t, state == reports.SubmitDisturbed,
			datacite.Temporary(&reports.SubmitError{State: state, Err: datacite.ErrInvalid}), state)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, ": 0 subsets stored: ", "how many there are is not known")
		cause, ok := errors.AsType[*datacite.Error](err)
		assert.True(t, ok)
		assert.Same(t, lost, cause)
	}
	assert.NotErrorIs(t, &reports.SubmitError{State: reports.SubmitUntouched, Err: lost}, datacite.ErrIncomplete)
}

// An API key is said to be one: it is neither expired nor broken, and not sent.
func TestAPIKeysAreNoTokens(t *testing.T) {
	const key = "DC.s3crets3crets3crets3crets3crets3c"
	_, err := reports.TokenExpiry(key)
	require.ErrorContains(t, err, "an API key")
	srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Documented, NoPort: true})
	defer srv.Close()
	client, err := reports.NewClient(datacite.Config{
		Service:    datacite.Service{API: srv.URL},
		HTTPClient: srv.HTTPClient(), TokenSource: func(context.Context) (string, error) { return key, nil },
	})
	require.NoError(t, err)
	_, created := client.Create(t.Context(), report("Example", 1))
	_, submitted := client.Submit(t.Context(), report("Example", 1).Header, func(func(reports.Dataset, error) bool) {},
		nil)
	for _, err := range []error{created, submitted} {
		require.ErrorIs(t, err, datacite.ErrUnauthorized)
		assert.NotErrorIs(t, err, reports.ErrTokenExpired)
		assert.ErrorContains(t, err, "an API key")
		assert.NotContains(t, err.Error(), "s3cret")
	}
	assert.Empty(t, srv.Requests())
}
