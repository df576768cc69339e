//go:build dataflow

package main

// Google's Dataflow, whose client is large.
import _ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow"
