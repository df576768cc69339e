//go:build stdflate

package gzipbody

import (
	"compress/flate"
	"io"
)

func newDeflater(level int) (deflater, error) { return flate.NewWriter(io.Discard, level) }
