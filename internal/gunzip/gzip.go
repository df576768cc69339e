//go:build !stdflate

package gunzip

import "github.com/klauspost/compress/gzip"

type inflater = gzip.Reader

var newInflater = gzip.NewReader
