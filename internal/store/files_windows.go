package store

import "os"

// inPlace reports whether the path still leads to the opened file.
func (w *watchedFile) inPlace() (bool, error) {
	now, err := os.Stat(w.path)
	return err == nil && os.SameFile(w.info, now), err
}
