package core

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
)

func readCatalogs(paths []string) ([]catalog.Model, error) {
	var all []catalog.Model
	for _, path := range paths {
		data, err := ReadBounded("catalog", path, catalog.MaxCatalogBytes)
		if err != nil {
			return nil, err
		}
		models, err := catalog.Parse(data)
		if err != nil {
			return nil, fmt.Errorf("catalog %q: %w", path, err)
		}
		all = append(all, models...)
	}
	return all, nil
}

// ReadBounded reads a file that an option names, if it has at most that many bytes. Errors begin
// with the option.
func ReadBounded(option, path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", option, err)
	}
	if info.Size() > most {
		return nil, fmt.Errorf("%s %q has %d bytes; at most %d are read", option, path, info.Size(), most)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", option, err)
	}
	defer f.Close()
	// A device or a pipe has no size, and a file may grow.
	text := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	if _, err := text.ReadFrom(io.LimitReader(f, most+1)); err != nil {
		return nil, fmt.Errorf("%s: %w", option, err)
	}
	if int64(text.Len()) > most {
		return nil, fmt.Errorf("%s %q has more than %d bytes", option, path, most)
	}
	return text.Bytes(), nil
}
