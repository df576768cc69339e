package pages

import (
	"archive/zip"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/examples/platform/dataset"
)

// archive sends all files of a version as one ZIP, while it is made.
func (p *Pages) archive(w http.ResponseWriter, r *http.Request) error {
	d, v, err := p.version(r)
	if err != nil {
		return err
	}
	if err := admit(w, r, d, v); err != nil {
		return err
	}
	folder := fmt.Sprintf("%s-version-%d", strings.TrimPrefix(v.Path(), "/datasets/"), v.Number)
	w.Header().Set("Content-Type", "application/zip")
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": folder + ".zip"}))
	if r.Method == http.MethodHead {
		return nil
	}
	w.WriteHeader(http.StatusOK)
	err = p.zip(patientWriter{w}, folder, v)
	if err != nil && r.Context().Err() == nil {
		p.Log.Error("archive", "path", r.URL.Path, "error", err)
	}
	if err != nil {
		panic(http.ErrAbortHandler) // a ZIP without its end must not look complete
	}
	p.downloaded(r, http.StatusOK, v)
	return nil
}

// zip writes a ZIP in constant memory. Nothing is compressed: that would cost the processor as
// much as a hundred pages for each megabyte, and anybody can ask for it.
func (p *Pages) zip(w io.Writer, folder string, v *dataset.Version) error {
	archive := zip.NewWriter(w)
	modified, _ := time.Parse(time.DateOnly, v.Published) // the same bytes each time
	for _, f := range v.Files {
		data, err := p.Store.OpenFile(f)
		if err != nil {
			return err
		}
		entry, err := archive.CreateHeader(&zip.FileHeader{Name: folder + "/" + inFolder.Replace(f.Name), Method: zip.Store, Modified: modified})
		if err == nil {
			_, err = io.Copy(entry, data)
		}
		_ = data.Close() // it was read only
		if err != nil {
			return err
		}
	}
	return archive.Close()
}

// inFolder keeps the files of earlier versions of the platform, which took any name, in
// their folder.
var inFolder = strings.NewReplacer("/", "_", `\`, "_")
