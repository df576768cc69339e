//go:build stdflate

package gunzip

import "compress/gzip"

type inflater = gzip.Reader

var newInflater = gzip.NewReader
