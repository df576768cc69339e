//go:build !linux && !darwin && !freebsd

package store

import "math"

// Disk knows nothing of the disk on this system: the supervisor has to watch it.
func (s *Store) Disk() (free, total int64, err error) { return math.MaxInt64, 0, nil }
