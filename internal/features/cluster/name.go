package cluster

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// nodeFile is the file of a data directory that has the name of this gateway among those of a
// cluster, if the configuration gives it none.
const nodeFile = "node"

var nodeNames = regexp.MustCompile(`^gw-[0-9a-f]{8}$`)

// nodeName returns the name that is kept in a data directory, and makes it first. Two gateways must
// not have the same: a data directory that is copied to another machine needs one of its own.
func nodeName(dir string) (string, error) {
	path := filepath.Join(dir, nodeFile)
	text, err := os.ReadFile(path)
	if err == nil {
		name := strings.TrimSpace(string(text))
		if !nodeNames.MatchString(name) {
			return "", fmt.Errorf("%s contains no node name: delete the file and the gateway makes a new one", path)
		}
		return name, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	random := make([]byte, 4)
	_, _ = rand.Read(random) // never fails
	name := "gw-" + hex.EncodeToString(random)
	return name, os.WriteFile(path, []byte(name+"\n"), 0o600)
}
