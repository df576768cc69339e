// Package bench measures what the clients promise about speed and memory, side
// by side with what a program without them would do.
//
//	go test ./internal/bench                          # truth checks and memory, in seconds; not with -race
//	go test ./internal/bench -run '^$' -bench . -count 7
//
// Each benchmark runs the plain way and ours in turn, several rounds in one
// process, and reports the median of the ratios: on a machine that does other
// work too, ratios within one run are the only numbers that mean something.
package bench
