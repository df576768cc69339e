package count

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
	"github.com/datacite-go/datacite-go/reports/counter/logs"
)

// nights are what --days keeps of a month: the counts of its days ([counter.Days]), and of
// each log that was read when it has accesses, and how it describes datasets. Nothing in
// it tells of visitors.
type nights struct {
	folder string
	logs   map[string]night // by name
}

// A night is what is known of a log.
type night struct {
	Version string
	Summary logs.FileStats // its hours are those of the whole month
}

const (
	logsFile         = "logs.json"
	descriptionsFile = "descriptions.gz"
)

// nightsFolder is that of the month. Other flags for reading logs have another folder: what was
// counted in two ways does not add up.
func (in *input) nightsFolder() (string, error) {
	flags, err := json.Marshal(in.settings)
	sum := sha256.Sum256(flags)
	return filepath.Join(in.days, fmt.Sprintf("%s-%x", in.monthText, sum[:4])), err
}

// openNights reads what earlier runs left for the month.
func (in *input) openNights(folder string) (*nights, error) {
	n := &nights{folder, map[string]night{}}
	data, err := os.ReadFile(filepath.Join(folder, logsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return n, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &n.logs)
	}
	if err == nil {
		err = n.readDescriptions(in.descriptions)
	}
	if _, failed := errors.AsType[*fs.PathError](err); err != nil && !failed {
		err = fmt.Errorf("%w; remove %s, and give all logs of the month", err, folder)
	}
	return n, err
}

func (n *nights) readDescriptions(to *logs.Descriptions) error {
	file, err := os.Open(filepath.Join(n.folder, descriptionsFile))
	if err != nil {
		return err
	}
	defer file.Close()
	packed, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	for in := json.NewDecoder(packed); ; {
		var about logs.Description
		err := in.Decode(&about)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = to.Add(about)
		}
		if err != nil {
			if _, failed := errors.AsType[*fs.PathError](err); !failed {
				err = fmt.Errorf("%s is damaged: %w", file.Name(), err)
			}
			return err
		}
	}
}

// save keeps what is known now. The list of logs is last: what it does not have is read again.
func (n *nights) save(about *logs.Descriptions) error {
	err := n.write(descriptionsFile, func(w io.Writer) error {
		packed := gzip.NewWriter(w)
		to := json.NewEncoder(packed)
		for d, err := range about.All() {
			if err == nil {
				err = to.Encode(d)
			}
			if err != nil {
				return err
			}
		}
		return packed.Close()
	})
	if err != nil {
		return err
	}
	return n.write(logsFile, func(w io.Writer) error { return json.NewEncoder(w).Encode(n.logs) })
}

// write replaces a file as a whole.
func (n *nights) write(name string, write func(io.Writer) error) error {
	file, err := os.CreateTemp(n.folder, name+".*.tmp")
	if err != nil {
		return err
	}
	if err := errors.Join(write(file), file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return os.Rename(file.Name(), filepath.Join(n.folder, name))
}

// rowsOfNights are the counts of the days of earlier nights, and of the logs that are new.
func (in *input) rowsOfNights() iter.Seq2[reports.Row, error] {
	return func(yield func(reports.Row, error) bool) {
		days, err := in.countNights()
		if days != nil {
			defer days.Close()
		}
		if err != nil {
			yield(reports.Row{}, fmt.Errorf("--days %s: %w", in.days, err))
			return
		}
		if err := in.checkGaps(); err != nil {
			yield(reports.Row{}, err)
			return
		}
		for row, err := range days.Rows(in.period) {
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// countNights counts the days whose logs are new.
func (in *input) countNights() (days *counter.Days, err error) {
	folder, err := in.nightsFolder()
	if err != nil {
		return nil, err
	}
	month := reports.Month(in.month.Year(), in.month.Month())
	days, err = counter.OpenDays(folder,
		&counter.Options{Location: in.reading.Location, Period: month, Robots: in.robots, Machines: in.machines,
			Memory: in.memory})
	if err != nil {
		return nil, err
	}
	n, err := in.openNights(folder) // no other run changes it now
	if err != nil {
		return days, err
	}
	sums := make([]logs.Stats, len(in.sources))
	sources := make([]counter.EventLog, len(in.sources))
	for i, s := range in.sources {
		sources[i] = counter.EventLog{Name: s.Name, Events: in.eventsOf(in.sources[i:i+1], &sums[i], month)}
		if sources[i].Version, err = in.version(s); err != nil {
			return days, err
		}
	}
	added, err := days.Add(sources, &counter.AddOptions{Tally: &in.events})
	if _, ofLogs := errors.AsType[faults](err); ofLogs {
		return days, in.moreFaults(err) // Add ends with those of one log
	}
	for _, f := range datacite.Findings(err) {
		if f.Code == datacite.CodeMissing {
			return days, fmt.Errorf("%w; if these are all, remove %s and give all logs of the month", err, folder)
		}
	}
	if err != nil {
		return days, err
	}
	for i, s := range sources {
		read := !slices.Contains(added.Unchanged, s.Name)
		if !read && n.logs[s.Name].Version != s.Version { // an earlier run ended before it could note this
			read = true
			for _, err := range s.Events {
				if err != nil {
					return days, err
				}
			}
		}
		if read && len(sums[i].Files) > 0 {
			n.logs[s.Name] = night{s.Version, since(n.logs[s.Name].Summary, sums[i].Files[0])}
		}
		in.lines.Add(sums[i])
	}
	in.lines.Files = nil
	for _, known := range n.logs {
		in.lines.Files = append(in.lines.Files, known.Summary)
	}
	in.unread, in.kept = len(added.Unchanged), added.Kept
	return days, n.save(in.descriptions)
}

// since is what a log has, with the times of the one that had its name before: when logs are rotated,
// the last one goes.
func since(before, now logs.FileStats) logs.FileStats {
	if before.First.IsZero() {
		return now
	}
	for hour := range now.Hours {
		now.Hours[hour] = now.Hours[hour] || hour < len(before.Hours) && before.Hours[hour]
	}
	if now.First.IsZero() || before.First.Before(now.First) {
		now.First = before.First
	}
	if before.Last.After(now.Last) {
		now.Last = before.Last
	}
	return now
}

// version changes with the content of a log, and with the tables by which it is read.
func (in *input) version(s logs.Log) (string, error) {
	sum, size := sha256.New(), int64(0)
	for _, name := range []string{s.Name, in.settings.Paths, in.settings.DOIs} {
		if name == "" {
			continue
		}
		file, err := os.Open(name)
		if err != nil {
			return "", err
		}
		n, err := io.Copy(sum, file)
		if err := errors.Join(err, file.Close()); err != nil {
			return "", err
		}
		size += n
	}
	return fmt.Sprintf("%d-%x", size, sum.Sum(nil)[:16]), nil
}
