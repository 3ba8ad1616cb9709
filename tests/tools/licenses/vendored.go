package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// vendored returns what the repository has of another project, unmodified. The file vendor.json has
// the files with the texts of each licence, by their names in the project; the folder package
// beside it has the files.
func vendored(file string) (module, error) {
	var vendor struct {
		Name     string              `json:"name"`
		Version  string              `json:"version"`
		Sum      string              `json:"integrity"`
		Licenses map[string][]string `json:"licenses"`
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return module{}, err
	}
	if err := json.Unmarshal(data, &vendor); err != nil {
		return module{}, fmt.Errorf("%s: %w", file, err)
	}
	if vendor.Name == "" || vendor.Version == "" || len(vendor.Licenses) == 0 {
		return module{}, fmt.Errorf("%s: the name, version or licences are missing", file)
	}
	names := slices.Sorted(maps.Keys(vendor.Licenses))
	var texts []string
	for _, name := range names {
		for _, text := range vendor.Licenses[name] {
			// What the project has of others is not in a folder named vendor here.
			path := filepath.Join(filepath.Dir(file), "package", filepath.FromSlash(strings.TrimPrefix(text, "vendor/")))
			content, err := os.ReadFile(path)
			if err != nil {
				return module{}, err
			}
			texts = append(texts, string(content))
		}
	}
	return module{path: vendor.Name, version: vendor.Version, sum: vendor.Sum, license: strings.Join(names, ", "), text: strings.Join(texts, "\n")}, nil
}
