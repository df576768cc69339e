//go:build !stdflate

package gunzip

import (
	"io"

	"github.com/klauspost/compress/gzip"
)

func newInflater(src io.Reader, all bool) (io.Reader, error) {
	r, err := gzip.NewReader(src)
	if err != nil {
		return nil, err
	}
	r.Multistream(all)
	return r, nil
}
