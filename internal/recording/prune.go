package recording

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.uber.org/zap"
)

const (
	pruneEvery = time.Minute
	// pruneDay is how often a day is deleted by age, so that a wrong clock does not cost all of them.
	pruneDay = time.Hour
)

// Run deletes what is too old or too much, until ctx ends.
func (s *Store) Run(ctx context.Context) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		s.logger.Error("sessions cannot be recorded", zap.Error(err))
	}
	tick := time.NewTicker(pruneEvery)
	defer tick.Stop()
	var deleted time.Time // a day, by age; by the clock that no one sets
	for {
		if deleted.IsZero() || time.Since(deleted) >= pruneDay {
			if s.pruneDay() {
				deleted = time.Now()
			}
		}
		s.pruneSize()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// pruneDay deletes the oldest day if all of it is older than Keep, and reports whether it was.
func (s *Store) pruneDay() bool {
	days, err := s.days()
	if err != nil {
		s.logger.Warn("recordings cannot be listed", zap.Error(err))
	}
	if len(days) == 0 || s.now().Sub(days[0].time.AddDate(0, 0, 1)) < s.Keep {
		return false
	}
	d, day := deletion{store: s}, days[0].name
	recording := make(map[string]bool)
	for _, e := range s.entries(day) {
		recording[e.ID] = e.State == Recording
	}
	files, _ := os.ReadDir(s.path(day, ""))
	for _, f := range files {
		if id, _, ok := strings.Cut(f.Name(), "."); ok && !recording[id] {
			recording[id] = true // it has several files
			d.remove(day, id)
		}
	}
	_ = os.Remove(s.path(day, "")) // unless one is being written
	d.log("keep", zap.String("day", day))
	return true
}

// pruneSize deletes the oldest recordings while all have more than MaxSize.
func (s *Store) pruneSize() {
	days, _ := s.days()
	var total int64
	sizes := make(map[string]int64) // of files
	for _, day := range days {
		files, _ := os.ReadDir(s.path(day.name, ""))
		for _, f := range files {
			if info, err := f.Info(); err == nil {
				sizes[filepath.Join(day.name, f.Name())] = info.Size()
				total += info.Size()
			}
		}
	}
	d := deletion{store: s}
	for _, day := range days {
		if total <= s.MaxSize {
			break
		}
		for _, e := range s.entries(day.name) {
			if e.State != Recording && total > s.MaxSize {
				total -= sizes[filepath.Join(day.name, e.ID+suffix)]
				d.remove(day.name, e.ID)
			}
		}
		_ = os.Remove(s.path(day.name, "")) // if it is empty
	}
	d.log("max_size")
}

// deletion counts what is deleted.
type deletion struct {
	store      *Store
	recordings int
	bytes      int64
	failed     error
}

func (d *deletion) remove(day, id string) {
	path := d.store.path(day, id)
	info, err := os.Stat(path + suffix)
	if err == nil {
		d.recordings++
		d.bytes += info.Size()
	}
	if err := remove(path); err != nil {
		d.failed = err
	}
}

// log says by which option something was deleted.
func (d *deletion) log(option string, fields ...zap.Field) {
	if d.recordings > 0 {
		d.store.logger.Info("recordings were deleted", append(fields, zap.String("by", option),
			zap.Int("recordings", d.recordings), zap.Int64("bytes", d.bytes))...)
	}
	if d.failed != nil {
		d.store.logger.Warn("a recording could not be deleted", zap.Error(d.failed))
	}
}
