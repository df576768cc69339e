//go:build !stdflate

package gzipbody

import (
	"io"

	"github.com/klauspost/compress/flate"
)

func newDeflater(level int) (deflater, error) { return flate.NewWriter(io.Discard, level) }
