package shell

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Spool prepares files that a command reads several times: standard input, for "-", and what is
// no regular file, such as a pipe, is copied to the folder for temporary files. The copy has the
// name "standard input" and the ending of its format, which its content tells. Call
// remove in any case. A folder is an error unless folders is true.
func (s *Shell) Spool(names []string, folders bool) (files []string, remove func(), err error) {
	remove = func() {
		if s.spooled != "" {
			_ = os.RemoveAll(s.spooled)
		}
	}
	for _, name := range names {
		if name != "-" {
			info, err := os.Stat(name)
			switch {
			case err == nil && info.IsDir() && !folders:
				return nil, remove, Wrong(fmt.Errorf("%s is a folder; give the name of a file", name))
			case err != nil || info.IsDir() || info.Mode().IsRegular(): // reading tells the error
				files = append(files, name)
				continue
			}
		}
		in, err := s.OpenInput(name)
		if err != nil {
			return nil, remove, err
		}
		file, err := s.spool(in)
		in.Close()
		if s.ctx.Err() != nil {
			return nil, remove, Interrupted("nothing was done")
		}
		if err != nil {
			return nil, remove, err
		}
		files = append(files, file)
	}
	return files, remove, nil
}

func (s *Shell) spool(in *Input) (name string, err error) {
	const enough = 512
	start := in.Peek(enough)
	if len(start) == 0 {
		return "", Wrong(fmt.Errorf("%s is empty", in.Name))
	}
	failed := func(err error) error {
		return Wrong(fmt.Errorf("%s cannot be copied: %w; the variable %s names another folder for it", in.Name, err,
			TempVariable))
	}
	if s.spooled == "" {
		if s.spooled, err = os.MkdirTemp("", "datacite-"); err != nil {
			return "", failed(err)
		}
	}
	name = filepath.Join(s.spooled, filepath.Base(in.Name)+ending(start))
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", failed(err)
	}
	copied := make(chan error, 1)
	go func() { // an interrupt cannot call it back from reading
		_, err := io.Copy(file, in)
		copied <- errors.Join(err, file.Close())
	}()
	select {
	case <-s.ctx.Done():
		return "", s.ctx.Err()
	case err := <-copied:
		if err != nil {
			err = failed(err)
		}
		return name, err
	}
}

// ending is what the name of a file of this content ends in.
func ending(start []byte) string {
	text := bytes.TrimSpace(bytes.TrimPrefix(start, []byte("\ufeff")))
	has := func(signs ...string) bool {
		for _, sign := range signs {
			if bytes.HasPrefix(text, []byte(sign)) {
				return true
			}
		}
		return false
	}
	switch {
	case has("PK\x03\x04"):
		return ".xlsx"
	case has("\x1f\x8b"):
		return ".gz"
	case has("{", "["):
		return ".json"
	case has("<"):
		return ".xml"
	case has("@"): // BibTeX
		return ".bib"
	case has("TY  -"):
		return ".ris"
	}
	return ".csv"
}

// unspooled takes the folder of copies out of a text.
func (s *Shell) unspooled(text string) string {
	if s.spooled == "" {
		return text
	}
	return strings.ReplaceAll(text, s.spooled+string(filepath.Separator), "")
}
