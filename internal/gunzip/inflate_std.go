//go:build stdflate

package gunzip

import (
	"compress/gzip"
	"io"
)

func newInflater(src io.Reader, all bool) (io.Reader, error) {
	r, err := gzip.NewReader(src)
	if err != nil {
		return nil, err
	}
	r.Multistream(all)
	return r, nil
}
