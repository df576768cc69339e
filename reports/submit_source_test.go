package reports_test

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
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

func TestLongFiltersAreNoFault(t *testing.T) {
	r := report("Example", 1)
	r.Header.ReportFilters = []reports.NameValue{{Name: strings.Repeat("n", 300), Value: strings.Repeat("v", 3000)}}
	r.Header.ReportAttributes = r.Header.ReportFilters
	assert.NoError(t, r.Validate())
}

// TestPeriodsThatAreNotOver: in synctest it is midnight UTC of 1 January 2000, and
// two in the afternoon of that day where the day is furthest on.
func TestPeriodsThatAreNotOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := report("Example", 1)
		for _, tt := range []struct {
			wait   time.Duration
			period reports.Period
			want   string
		}{
			{0, reports.Month(1999, time.December), ""},
			{0, reports.Month(2000, time.January),
				"warning: report-header.reporting-period.end-date: is 2000-01-31, which is not over yet"},
			{0, reports.Period{"2000-01-02", "2000-01-31"},
				"report-header.reporting-period.begin-date: is 2000-01-02, in the future"},
			{10*time.Hour - 1, reports.Period{"2000-01-02", "2000-01-31"},
				"report-header.reporting-period.begin-date: is 2000-01-02, in the future"},
			{1, reports.Period{"2000-01-02", "2000-01-31"},
				"warning: report-header.reporting-period.end-date: is 2000-01-31, which is not over yet"},
			{30*24*time.Hour - 1, reports.Month(2000, time.January),
				"warning: report-header.reporting-period.end-date: is 2000-01-31, which is not over yet"},
			{1, reports.Month(2000, time.January), ""},
			{0, reports.Month(2000, time.February),
				"warning: report-header.reporting-period.end-date: is 2000-02-29, which is not over yet"},
		} {
			time.Sleep(tt.wait)
			r.Header.ReportingPeriod, r.Datasets[0].Performance[0].Period = tt.period, tt.period
			var got strings.Builder
			for _, f := range r.Findings() {
				got.WriteString(f.String())
				assert.Equal(t, strings.Contains(f.Reason, "over yet"), f.Warning)
			}
			assert.Equal(t, tt.want, got.String(), "%s", time.Now())
			assert.Equal(t, strings.Contains(tt.want, "future"), r.Validate() != nil)
		}
	})
}

func TestUnknownCountries(t *testing.T) {
	for _, country := range []string{"xk", "uk", "zz", "eu", "an"} {
		r := report("Example", 1)
		r.Datasets[0].Performance[0].Instance[0].CountryCounts = reports.CountryCounts{{country, 7}}
		require.ErrorIs(t, r.Validate(), datacite.ErrInvalid, country)
		require.Len(t, r.Findings(), 1)
		assert.False(t, r.Findings()[0].Warning)
		r.Header.Exceptions = []reports.Exception{{Code: reports.ExceptionCompressed}}
		require.NoError(t, r.Validate(), country)
		require.Len(t, r.Findings(), 1)
		assert.True(t, r.Findings()[0].Warning)
	}
}

// TestLargestEntry sends the longest entry that can be read back, and no longer one.
func TestLargestEntry(t *testing.T) {
	c := server(t).Reports()
	d := dataset(0)
	d.Title = ""
	send := func(size int) (*reports.Receipt, error) {
		d.Title = strings.Repeat("x", size)
		return c.Submit(t.Context(), header("Example", time.October), reports.Source([]reports.Dataset{dataset(1), d}), nil)
	}
	_, err := send(16 << 20)
	e, ok := errors.AsType[*datacite.ValidationError](err)
	require.True(t, ok)
	var size int
	assert.Equal(t, "report-datasets[1]", e.Findings[0].Path)
	_, err = fmt.Sscanf(e.Findings[0].Reason, "takes %d bytes of JSON; more than 16777216 cannot be read back", &size)
	require.NoError(t, err)

	receipt, err := send(16<<20 - (size - 16<<20))
	require.NoError(t, err)
	assert.True(t, reflect.DeepEqual([]reports.Dataset{d, dataset(1)}, stored(t, c, receipt.ReportID)))
	_, err = send(16<<20 - (size - 16<<20) + 1)
	require.ErrorIs(t, err, datacite.ErrInvalid)
}

func TestNothingIsLeftToSend(t *testing.T) {
	for _, tt := range []struct {
		datasets int
		merge    bool
	}{{150, false}, {150, true}, {1, false}} {
		srv := server(t)
		all := reports.Source(slices.Repeat([]reports.Dataset{{DataType: "book"}}, tt.datasets))
		leftOut := 0
		_, err := srv.Reports().Submit(t.Context(), header("Example", time.October), all, &reports.SubmitOptions{
			MergeRepeats: tt.merge,
			LeaveOut: func(err error) bool {
				leftOut++
				assert.NotContains(t, err.Error(), "dataset ", "none has a DOI")
				assert.Contains(t, datacite.Findings(err)[0].Path, ".data-type")
				return true
			},
		})
		require.ErrorIs(t, err, datacite.ErrInvalid)
		assert.Equal(t, []datacite.Finding{
			{Path: "report-datasets", Code: "missing",
				Reason: fmt.Sprintf("has nothing left to send: all %d datasets have faults", tt.datasets)}}, datacite.Findings(err))
		assert.Equal(t, tt.datasets, leftOut)
		assert.Empty(t, writes(srv))
	}
}

// spelled yields datasets of the given DOIs, in lists that it uses again.
func spelled(edit func(i int, d *reports.Dataset), names ...string) iter.Seq2[reports.Dataset, error] {
	return func(yield func(reports.Dataset, error) bool) {
		id := []reports.TypedValue{{Type: "doi"}}
		instances, performance := make([]reports.Instance, 4), make([]reports.Performance, 1)
		for i, name := range names {
			d := dataset(i)
			id[0].Value = name
			copy(instances, d.Performance[0].Instance)
			performance[0].Period = d.Performance[0].Period
			performance[0].Instance = instances
			d.DatasetID, d.Performance = id, performance
			if edit != nil {
				edit(i, &d)
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}

// TestSpellingsOfADOI: merging and the search for repeats know them all, and take
// no other letter for an ASCII one.
func TestSpellingsOfADOI(t *testing.T) {
	same := []string{"10.5072/Kit", "https://doi.org/10.5072/KIT", "http://dx.doi.org/10.5072/kit", "doi:10.5072/kit",
		"DOI: 10.5072/kit", " https://doi.org/10.5072%2Fk%69t"}
	others := []string{"10.5072/\u212ait", "10.5072/K\u0130t", "10.5072/k%69t"}
	c := server(t).Reports()
	h := header("Example", time.October)
	merge := &reports.SubmitOptions{MergeRepeats: true}
	receipt, err := c.Submit(t.Context(), h, spelled(nil, append(same, others...)...), merge)
	require.NoError(t, err)
	got := stored(t, c, receipt.ReportID)
	require.Len(t, got, 1+len(others))
	assert.Equal(t, same[0], got[0].DatasetID[0].Value)
	assert.EqualValues(t, 7*len(same), got[0].Performance[0].Instance[0].Count)
	assert.EqualValues(t, 4*len(same), got[0].Performance[0].Instance[0].CountryCounts[0].Count)
	assert.EqualValues(t, 7, got[1].Performance[0].Instance[0].Count)

	_, err = c.Submit(t.Context(), h, spelled(nil, append(others, same...)...), nil)
	v, ok := errors.AsType[*datacite.ValidationError](err)
	require.True(t, ok)
	assert.Len(t, v.Findings, len(same)-1)
	assert.Equal(t, "report-datasets[4].dataset-id", v.Findings[0].Path)

	r := report("Example", 0)
	for d := range spelled(nil, append(others, same...)...) {
		d.DatasetID = []reports.TypedValue{d.DatasetID[0]}
		r.Datasets = append(r.Datasets, d)
	}
	repeats, put, unseen := 0, 0, 0
	for _, f := range r.Findings() {
		switch {
		case strings.Contains(f.Reason, "keep one of them"):
			repeats++
		case f.Code == "corrected": // a blank, and percent-encoding in an address
			put++
		default: // the Kelvin sign, the dotted I and the percent sign
			unseen++
		}
	}
	assert.Equal(t, []int{len(same) - 1, 2, 3}, []int{repeats, put, unseen})
}

func TestMergingAddsUp(t *testing.T) {
	list := []reports.Dataset{counted("10.5072/a"), counted("10.5072/A", views(2)), counted("10.5072/a", downloads(1)),
		counted("doi:10.5072/a", views(6), downloads(4)), counted("10.5072/a")}
	list[0].Performance, list[4].Performance = nil, nil
	zero := reports.Instance{MetricType: reports.MetricTotalDatasetRequests, AccessMethod: reports.AccessMachine,
		CountryCounts: reports.CountryCounts{{"de", 0}}}
	for _, i := range []int{1, 3} {
		list[i].Performance[0].Instance = append([]reports.Instance{zero}, list[i].Performance[0].Instance...)
	}
	c := server(t).Reports()
	receipt, err := c.Submit(t.Context(), header("Example", time.October), reports.Source(list),
		&reports.SubmitOptions{MergeRepeats: true})
	require.NoError(t, err)
	assert.Equal(t, []reports.Dataset{counted("10.5072/a", zero, views(8), downloads(5))}, stored(t, c, receipt.ReportID))
}

func TestMergingEndsWithItsSource(t *testing.T) {
	broken := func(yield func(reports.Dataset, error) bool) { yield(reports.Dataset{}, io.ErrUnexpectedEOF) }
	srv := server(t)
	_, err := srv.Reports().Submit(t.Context(), header("Example", time.October), broken,
		&reports.SubmitOptions{MergeRepeats: true})
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Empty(t, writes(srv))
}

// TestRepeats are named up to a hundred.
func TestRepeats(t *testing.T) {
	list := slices.Repeat([]reports.Dataset{dataset(0), dataset(1)}, 80)
	_, err := server(t).Reports().Submit(t.Context(), header("Example", time.October), reports.Source(list), nil)
	require.ErrorIs(t, err, reports.ErrRepeated)
	found := datacite.Findings(err)
	assert.Len(t, found, 100)
	assert.Equal(t, "report-datasets[2].dataset-id", found[0].Path)
	assert.Equal(t, "is that of report-datasets[0]; the service would keep one of them", found[0].Reason)
}

// TestMergingRefuses names the rows by their numbers in the source.
func TestMergingRefuses(t *testing.T) {
	first := func(d *reports.Dataset) *reports.Instance { return &d.Performance[0].Instance[0] }
	at := func(row int, edit func(*reports.Dataset)) func(int, *reports.Dataset) {
		return func(i int, d *reports.Dataset) {
			if i == row {
				edit(d)
			}
		}
	}
	for _, tt := range []struct {
		name string
		edit func(i int, d *reports.Dataset)
		want string
	}{
		{"a negative count, which the sum hides", at(2, func(d *reports.Dataset) { first(d).Count = -5 }),
			"report-datasets[2].performance[0].instance[0].count: is -5"},
		{"text that is not UTF-8, in a row that is added", at(3, func(d *reports.Dataset) { d.Title = "\xff" }),
			"report-datasets[3].dataset-title: is not valid UTF-8"},
		{"a sum of counts", at(3, func(d *reports.Dataset) { first(d).Count = math.MaxInt64 }),
			"report-datasets[3].performance[0].instance[0]: cannot be added to that of report-datasets[1], which has the same " +
				"DOI: a sum would be more than 9223372036854775807"},
		{"a sum of countries", at(2, func(d *reports.Dataset) {
			first(d).CountryCounts = reports.CountryCounts{{"fr", math.MaxInt64}}
		}),
			"report-datasets[2].performance[0].instance[0]: cannot be added to that of report-datasets[1], "},
		{"another period", at(2, func(d *reports.Dataset) { d.Performance[0].Period = reports.Month(1998, time.May) }),
			"report-datasets[2].performance[0].period: cannot be added to that of report-datasets[1], which has the same DOI: " +
				"the periods differ"},
		{"several performances", at(1, func(d *reports.Dataset) { d.Performance = append(d.Performance, d.Performance[0]) }),
			"report-datasets[2].performance: cannot be added to that of report-datasets[1], which has the same DOI: there are " +
				"several in an entry"},
		{"a repeat that is not side by side", nil, "report-datasets[5].dataset-id: is that of report-datasets[0]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := server(t)
			source := spelled(tt.edit, "10.5072/a", "10.5072/b", "10.5072/B", "10.5072/b", "10.5072/c", "10.5072/a")
			_, err := srv.Reports().Submit(t.Context(), header("Example", time.October), source,
				&reports.SubmitOptions{MergeRepeats: true, AllowInconsistent: true})
			_, ok := errors.AsType[*datacite.ValidationError](err)
			require.True(t, ok, "%v", err)
			require.ErrorIs(t, err, datacite.ErrInvalid)
			assert.ErrorContains(t, err, tt.want)
			assert.Empty(t, writes(srv))
		})
	}
}

// TestMergingWithRowsLeftOut: the rows keep their numbers, and bad ones do not count.
func TestMergingWithRowsLeftOut(t *testing.T) {
	c := server(t).Reports()
	source := spelled(func(i int, d *reports.Dataset) {
		if i == 0 || i == 2 || i == 5 {
			d.DataType = "book"
		}
	}, "10.5072/a", "10.5072/a", "10.5072/a", "10.5072/a", "10.5072/b", "10.5072/b", "10.5072/c")
	var leftOut []datacite.Finding
	receipt, err := c.Submit(t.Context(), header("Example", time.October), source, &reports.SubmitOptions{
		MergeRepeats: true, LeaveOut: func(err error) bool {
			leftOut = append(leftOut, datacite.Findings(err)...)
			return true
		},
	})
	require.NoError(t, err)
	require.Len(t, leftOut, 3)
	assert.Equal(t, "report-datasets[5].data-type", leftOut[2].Path)
	got := stored(t, c, receipt.ReportID)
	require.Len(t, got, 3)
	for i, want := range []int64{14, 7, 7} {
		assert.Equal(t, want, got[i].Performance[0].Instance[0].Count)
	}
}

// A Reader that was closed yields no datasets, and says so, wherever they would come from.
func TestAReaderThatWasClosed(t *testing.T) {
	srv := datacitetest.NewServer(&datacitetest.Options{NoPort: true})
	defer srv.Close()
	h := header("Example", time.October)
	id, err := srv.PutReport(&reports.Report{Header: h, Datasets: []reports.Dataset{}})
	require.NoError(t, err)
	opened, err := srv.Reports().Open(t.Context(), id)
	require.NoError(t, err)
	read, err := reports.NewReader(strings.NewReader(compressedDocument(part(inner("a b")))))
	require.NoError(t, err)
	for _, r := range []*reports.Reader{opened, read} {
		require.NoError(t, r.Close())
		for range 2 {
			require.ErrorIs(t, lastError(r.All()), fs.ErrClosed)
			require.ErrorIs(t, lastError(r.Scan()), fs.ErrClosed)
		}
	}
}

// What Get has read is closed.
func TestGetClosesTheResponse(t *testing.T) {
	closed := false
	c := respondingWith(t, &datacite.Config{}, 200, "application/json", func(context.Context) io.ReadCloser {
		return closing{strings.NewReader(compressedDocument(part(inner("a b")))), func() { closed = true }}
	})
	_, err := c.Get(t.Context(), id)
	require.NoError(t, err)
	assert.True(t, closed)
}

// Datasets are there once: a second range says so, whatever the shape of the
// report and however far the first one came.
func TestDatasetsCanBeReadOnce(t *testing.T) {
	for name, document := range map[string]string{
		"subsets": compressedDocument(part(inner("a b")), part(inner("c d"))),
		"plain":   `{"report":{` + compressedHeader + `,"report-datasets":` + titled("a b c d") + `}}`,
		"gzip":    string(gz(`{"report-header":{"created-by":"a"},"report-datasets":` + titled("a b c d") + `}`)),
	} {
		for stop := range 5 {
			t.Run(fmt.Sprint(name, stop), func(t *testing.T) {
				r, err := reports.NewReader(strings.NewReader(document))
				require.NoError(t, err)
				read := 0
				for _, err := range r.All() {
					require.NoError(t, err)
					if read++; read == stop {
						break
					}
				}
				assert.Equal(t, cmp.Or(stop, 4), read)
				require.ErrorContains(t, lastError(r.Scan()), "can be read once; open the report again")
			})
		}
	}
}

// A source that never ends is read until the context ends. Nothing is sent, and
// nothing stays behind.
func TestASourceThatNeverEnds(t *testing.T) {
	srv := datacitetest.NewServer(&datacitetest.Options{Behaviour: datacitetest.Documented, NoPort: true})
	defer srv.Close()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	src := func(yield func(reports.Dataset, error) bool) {
		for i := 0; yield(dataset(i), nil); i++ {
			continue
		}
	}
	_, err := srv.Reports().Submit(ctx, header("Example", time.October), src, &reports.SubmitOptions{
		MaxDatasets: 100, TempDir: dir, LockDir: t.TempDir(),
		Progress: func(p reports.Progress) {
			if p.Subsets == 20 {
				cancel()
			}
		},
	})
	require.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, writes(srv))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// TestNoSecretInAnyFile looks into every file of a submission, at each of its steps
// and after one that failed.
func TestNoSecretInAnyFile(t *testing.T) {
	srv := server(t)
	secret := srv.Token(srv.Now().Add(time.Hour))
	folder := t.TempDir()
	client, err := reports.NewClient(datacite.Config{Service: datacite.Service{API: srv.URL}, Token: secret})
	require.NoError(t, err)
	files := 0
	look := func() {
		require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) {
				return nil // done with, meanwhile
			}
			files++
			for _, written := range []string{secret, url.QueryEscape(secret), base64.StdEncoding.EncodeToString([]byte(secret)),
				hex.EncodeToString([]byte(secret))} {
				assert.NotContains(t, string(data)+path, written)
			}
			return err
		}))
	}
	looking := func(source iter.Seq2[reports.Dataset, error]) iter.Seq2[reports.Dataset, error] {
		return func(yield func(reports.Dataset, error) bool) {
			for d, err := range source {
				look()
				if !yield(d, err) {
					return
				}
			}
		}
	}
	opts := &reports.SubmitOptions{TempDir: folder, LockDir: folder, MaxDatasets: 2, Progress: func(reports.Progress) {
		look()
	}}
	_, err = client.Submit(t.Context(), header("Example", time.October), looking(datasets(6)), opts)
	require.NoError(t, err)
	require.NotZero(t, files, "there were files to look into")

	srv.Close()
	client, err = reports.NewClient(datacite.Config{Service: datacite.Service{API: srv.URL}, Token: secret,
		MaxAttempts: 1})
	require.NoError(t, err)
	opts.MaxOutage = 1
	_, err = client.Submit(t.Context(), header("Example", time.September), looking(datasets(6)), opts)
	require.Error(t, err)
	look()
	assert.False(t, strings.Contains(err.Error(), secret))
	_, err = client.Submit(t.Context(), header("Example", time.September), func(yield func(reports.Dataset, error) bool) {
		yield(reports.Dataset{}, errors.New("GET /rows?token="+secret))
	}, opts)
	require.ErrorContains(t, err, "GET /rows")
	assert.False(t, strings.Contains(err.Error(), secret))
	r := report("Example", 1)
	r.Header.Created = reports.Date(secret)
	_, err = client.Create(t.Context(), r)
	require.ErrorContains(t, err, "report-header.created: ")
	assert.False(t, strings.Contains(err.Error(), secret))
}
