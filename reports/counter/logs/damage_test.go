package logs_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/reports/counter"
	"github.com/datacite-go/datacite-go/reports/counter/logs"
)

var damaged = flag.Int("damaged", 100, "how many random logs are damaged and read")

// randomLines are lines of a format, each with another time.
func randomLines(r *rand.Rand, format string) (lines []string) {
	for i := range 20 + r.IntN(60) {
		at := time.Date(2026, 10, 14, 10, 0, i, 0, time.UTC)
		address := []string{"192.0.2.1", "2001:db8::7"}[r.IntN(2)]
		doi := fmt.Sprint("10.5072/a", r.IntN(5))
		switch format {
		case "dataverse":
			lines = append(lines, line("event_time", at.Format(time.RFC3339), "client_ip", address, "identifier", "doi:"+doi,
				"request_url", []string{"/dataset.xhtml", "/about"}[r.IntN(2)]))
		case "combined":
			path := []string{"/data/" + doi, "/files/" + doi, "/style.css"}[r.IntN(3)]
			host := []string{"", "data.example.org:443 "}[r.IntN(2)]
			lines = append(lines, fmt.Sprintf("%s%s - - [%s] \"GET %s HTTP/1.1\" 200 5 \"-\" \"Mozilla/5.0 (X11)\"\n", host,
				address, at.Format("02/Jan/2006:15:04:05 -0700"), path))
		case "json":
			data, _ := json.Marshal(counter.Event{DOI: doi, Time: at, URL: "/a", Address: address})
			lines = append(lines, string(data)+"\n")
		}
		if r.IntN(15) == 0 {
			lines = append(lines, []string{"\n", "# comment\n"}[r.IntN(2)])
		}
	}
	return lines
}

// damage changes some lines, as copying, cutting, editing and broken disks do.
func damage(r *rand.Rand, lines []string) (after []string, same map[string]int) {
	same = map[string]int{}
	for _, l := range lines {
		switch r.IntN(14) {
		case 0:
			b := []byte(l)
			b[r.IntN(len(b))] = byte(r.IntN(256))
			after = append(after, string(b))
		case 1:
			at := r.IntN(len(l))
			after = append(after, l[:at]+l[min(len(l), at+1+r.IntN(40)):])
		case 2:
			after = append(after, strings.Repeat("\x00", r.IntN(50))+l)
		case 3:
			after = append(after, l[:r.IntN(len(l))]+"\n")
		default:
			after = append(after, l)
			same[l]++
		}
	}
	return after, same
}

// TestADamagedLogIsCountedOrNamed: what went in is what was counted and what is named,
// whatever happened to the log; and no line suffers from what happened to another one.
func TestADamagedLogIsCountedOrNamed(t *testing.T) {
	for seed := range uint64(*damaged) {
		r := rand.New(rand.NewPCG(seed, 5))
		format := logs.Formats()[r.IntN(3)]
		lines := randomLines(r, format.Name)
		after, same := damage(r, lines)
		text := strings.Join(after, "")
		opts := logs.Options{}
		if format.Name == "combined" {
			opts.Paths = pages()
		}
		half := strings.Index(text[len(text)/2:], "\n") + len(text)/2 + 1
		var sum logs.Stats
		var named []datacite.Finding
		opts.Stats, opts.Tolerance, opts.Faulty = &sum, all, func(f datacite.Finding) { named = append(named, f) }
		events, err := collect(logs.Read([]logs.Log{logs.FromReader("a", strings.NewReader(text[:half])),
			logs.FromReader("b", strings.NewReader(text[half:]))}, format, &opts))
		require.NoError(t, err, "seed %d", seed)

		number := strings.Count(text, "\n")
		if !strings.HasSuffix(text, "\n") {
			number++
		}
		require.EqualValues(t, number, sum.Lines(), "seed %d", seed)
		require.Len(t, events, int(sum.Events))
		require.Len(t, named, int(sum.Faulty))
		faults := int64(0)
		for _, c := range sum.Faults {
			faults += c.Lines
			require.LessOrEqual(t, len(c.First), 3)
		}
		require.Equal(t, sum.Faulty, faults, "seed %d", seed)
		require.Equal(t, sum.Lines(), sum.Files[0].Lines()+sum.Files[1].Lines(), "seed %d", seed)

		// Each line that was not touched makes its event, whatever stands before it.
		found := map[string]int{}
		for _, e := range events {
			found[fmt.Sprint(e)]++
		}
		var untouched strings.Builder
		for l := range strings.Lines(text) {
			if same[l] > 0 {
				untouched.WriteString(l)
			}
		}
		good, err := collect(read(format, strings.NewReader(untouched.String()), &logs.Options{Paths: opts.Paths}))
		require.NoError(t, err, "seed %d", seed)
		for _, e := range good {
			found[fmt.Sprint(e)]--
			require.GreaterOrEqual(t, found[fmt.Sprint(e)], 0, "seed %d: %+v", seed, e)
		}

		// Without leave, and with a limit, nothing is counted, or hardly anything is missing.
		for _, share := range []float64{0, 0.01, 0.2} {
			_, err := collect(read(format, strings.NewReader(text),
				&logs.Options{Paths: opts.Paths, Tolerance: logs.Tolerance{Share: share}}))
			many := float64(sum.Faulty) > share*float64(sum.Lines()-sum.Comments)
			if err == nil {
				require.False(t, many && share == 0, "seed %d", seed)
				continue
			}
			var refused *logs.FaultsError
			require.ErrorAs(t, err, &refused, "seed %d", seed)
			require.ErrorIs(t, err, datacite.ErrInvalid)
		}
	}
}

// TestADamagedArchiveIsReadWholeOrNot: a compressed log with another byte, or cut, has
// all its events or is refused; if it may be cut, it has the first of them, and says so.
func TestADamagedArchiveIsReadWholeOrNot(t *testing.T) {
	outcomes := map[string]int{}
	for seed := range uint64(*damaged) {
		r := rand.New(rand.NewPCG(seed, 6))
		lines := randomLines(r, "json")
		text := strings.Join(lines, "")
		want, err := collect(read(logs.JSON, strings.NewReader(text), nil))
		require.NoError(t, err)
		packed, kind := pack(t, r, text)
		cut := r.IntN(2) == 0
		if cut {
			packed = packed[:1+r.IntN(len(packed)-1)]
		} else {
			packed[r.IntN(len(packed))] ^= byte(1 + r.IntN(255))
		}
		got, err := collect(read(logs.JSON, bytes.NewReader(packed), nil))
		if err == nil {
			require.Equal(t, fmt.Sprint(want), fmt.Sprint(got), "seed %d: %s", seed, kind)
			outcomes["whole"]++
		} else {
			outcomes["refused"]++
		}
		var sum logs.Stats
		got, err = collect(read(logs.JSON, bytes.NewReader(packed), &logs.Options{AllowTruncated: true, Stats: &sum}))
		if err != nil {
			require.False(t, cut && len(packed) > 20 && !errors.Is(err, datacite.ErrInvalid), "seed %d: %s cut at %d: %v", seed,
				kind, len(packed), err)
			continue
		}
		require.LessOrEqual(t, len(got), len(want))
		require.Equal(t, fmt.Sprint(want[:len(got)]), fmt.Sprint(got), "seed %d: %s", seed, kind)
		require.True(t, sum.Files[0].Truncated || len(got) == len(want), "seed %d: %s", seed, kind)
		if sum.Files[0].Truncated {
			outcomes["cut"]++
		}
	}
	assert.Greater(t, outcomes["refused"], 0)
	assert.Greater(t, outcomes["cut"], 0)
}

func pack(t *testing.T, r *rand.Rand, text string) (packed []byte, kind string) {
	var file bytes.Buffer
	if r.IntN(2) == 0 {
		w := gzip.NewWriter(&file)
		_, err := w.Write([]byte(text))
		require.NoError(t, errors.Join(err, w.Close()))
		return file.Bytes(), "gzip"
	}
	w, err := zstd.NewWriter(&file)
	require.NoError(t, err)
	_, err = w.Write([]byte(text))
	require.NoError(t, errors.Join(err, w.Close()))
	return file.Bytes(), "zstd"
}
