package pages

import (
	"archive/zip"
	"compress/flate"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/examples/platform/dataset"
)

// archive sends all files of a version as one ZIP, while it is made: a bag of RFC 8493,
// with checksums that programs verify, and the metadata.
func (p *Pages) archive(w http.ResponseWriter, r *http.Request) error {
	d, v, err := p.version(r)
	if err != nil {
		return err
	}
	if err := admit(w, r, d, v); err != nil {
		return err
	}
	record, err := d.Record(v, p.By).XML()
	if err != nil {
		return err
	}
	prefix := fmt.Sprintf("dataset-%d-version-%d", d.ID, v.Number)
	w.Header().Set("Content-Type", "application/zip")
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": prefix + ".zip"}))
	if r.Method == http.MethodHead {
		return nil
	}
	err = p.bag(&patientWriter{ResponseWriter: w, control: http.NewResponseController(w)}, prefix, record, v)
	if err != nil && r.Context().Err() == nil {
		p.Log.Error("archive", "path", r.URL.Path, "error", err)
	}
	if err != nil {
		panic(http.ErrAbortHandler) // a ZIP without its end must not look complete
	}
	p.downloaded(r, http.StatusOK, v)
	return nil
}

// bag writes a ZIP in constant memory.
func (p *Pages) bag(w io.Writer, prefix string, record []byte, v *dataset.Version) error {
	archive := zip.NewWriter(w)
	archive.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestSpeed) })
	modified, _ := time.Parse(time.DateOnly, v.Published) // the same bytes each time
	add := func(name string, from io.Reader) error {
		entry, err := archive.CreateHeader(&zip.FileHeader{Name: prefix + "/" + name, Method: zip.Deflate, Modified: modified})
		if err != nil {
			return err
		}
		_, err = io.Copy(entry, from)
		return err
	}
	var manifest strings.Builder
	names := map[string]bool{}
	for _, f := range v.Files {
		name := "data/" + safe(f.Name, names)
		fmt.Fprintf(&manifest, "%s  %s\n", f.SHA256, strings.ReplaceAll(name, "%", "%25"))
		data, err := p.Store.OpenFile(f)
		if err != nil {
			return err
		}
		err = add(name, data)
		_ = data.Close()
		if err != nil {
			return err
		}
	}
	for _, tag := range [][2]string{
		{"bagit.txt", "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"}, {"manifest-sha256.txt", manifest.String()}, {"datacite.xml", string(record)},
	} {
		if err := add(tag[0], strings.NewReader(tag[1])); err != nil {
			return err
		}
	}
	return archive.Close()
}

// safe returns the name of a file as every system can have it in a folder, where names
// that differ only in case are the same.
func safe(name string, taken map[string]bool) string {
	name = strings.Map(func(c rune) rune {
		if c < ' ' || strings.ContainsRune(`/\:*?"<>|`, c) {
			return '_'
		}
		return c
	}, name)
	name = strings.TrimRight(strings.TrimLeft(name, "."), ". ")
	stem, extension := name, ""
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		stem, extension = name[:i], name[i:]
	}
	if reserved[strings.ToUpper(strings.SplitN(name, ".", 2)[0])] || stem == "" {
		stem = "_" + stem
	}
	name = stem + extension
	for n := 2; taken[strings.ToLower(name)]; n++ {
		name = fmt.Sprintf("%s (%d)%s", stem, n, extension)
	}
	taken[strings.ToLower(name)] = true
	return name
}

// reserved are the names of devices in Windows.
var reserved = func() map[string]bool {
	names := map[string]bool{"CON": true, "PRN": true, "AUX": true, "NUL": true}
	for n := range 10 {
		names[fmt.Sprint("COM", n)], names[fmt.Sprint("LPT", n)] = true, true
	}
	return names
}()
