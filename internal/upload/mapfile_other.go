//go:build !unix

package upload

import (
	"errors"
	"os"
)

const canMap = false

func mapFile(*os.File, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmapFile([]byte) error { return errors.ErrUnsupported }
