package reports

import (
	"errors"
	"io"
	"os"
	"runtime"
)

// A spool keeps the bodies of finished subsets until they are sent: in memory
// up to a limit, and then in a temporary file.
type spool struct {
	limit  int64
	dir    string
	held   int64
	places []spooled
	file   *os.File
	end    int64
}

// A spooled body is in memory or, without bytes, in the file.
type spooled struct {
	body []byte
	at   int64
	size int
}

// add keeps a copy of body.
func (s *spool) add(body []byte) error {
	if s.held+int64(len(body)) <= s.limit {
		s.held += int64(len(body))
		s.places = append(s.places, spooled{body: append([]byte(nil), body...), size: len(body)})
		return nil
	}
	if s.file == nil {
		file, err := tempFile(s.dir)
		if err != nil {
			return err
		}
		s.file = file
	}
	if _, err := s.file.WriteAt(body, s.end); err != nil {
		return err
	}
	s.places = append(s.places, spooled{at: s.end, size: len(body)})
	s.end += int64(len(body))
	return nil
}

// body returns the body with number i.
func (s *spool) body(i int) ([]byte, error) {
	p := s.places[i]
	if p.body != nil {
		return p.body, nil
	}
	body := make([]byte, p.size)
	_, err := io.ReadFull(io.NewSectionReader(s.file, p.at, int64(p.size)), body)
	return body, err
}

// close removes the temporary file.
func (s *spool) close() error { return removeTemp(s.file) }

// tempFile makes a temporary file. Where the system allows it, its name is gone
// at once, so that a crash leaves nothing behind.
func tempFile(dir string) (*os.File, error) {
	file, err := os.CreateTemp(dir, "datacite-report-*")
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" {
		if err := os.Remove(file.Name()); err != nil {
			return nil, errors.Join(err, file.Close())
		}
	}
	return file, nil
}

func removeTemp(file *os.File) error {
	if file == nil {
		return nil
	}
	err := file.Close()
	if runtime.GOOS == "windows" {
		err = errors.Join(err, os.Remove(file.Name()))
	}
	return err
}
