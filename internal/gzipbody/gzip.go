//go:build !stdflate

package gzipbody

import "github.com/klauspost/compress/gzip"

type inflater = gzip.Reader

var newInflater = gzip.NewReader
