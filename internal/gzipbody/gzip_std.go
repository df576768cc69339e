//go:build stdflate

package gzipbody

import "compress/gzip"

type inflater = gzip.Reader

var newInflater = gzip.NewReader
