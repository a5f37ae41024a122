package files

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	sumWhole   = 64 << 20 // files up to this size are read whole
	sumSamples = 64
	sumSample  = 64 << 10
)

// Sum returns the SHA-256 of a file of up to 64 MB, in hexadecimal. For a larger file it
// hashes the size, the modification time and 64 samples of 64 kB, so it may miss a change that
// keeps size and time. Of a file with companions it returns the hash of the sums of all.
func (d Folder) Sum(name string) (string, error) {
	at, err := d.Find(name)
	if err != nil {
		return "", err
	}
	sum, err := d.sumOf(at)
	for _, c := range parts(Companions(at, name)) {
		more, failed := d.sumOf(c.Path)
		both := sha256.Sum256([]byte(sum + more))
		sum, err = fmt.Sprintf("%x", both), errors.Join(err, failed)
	}
	return sum, err
}

// Sums returns the [Folder.Sum] of each file, by its name, of sources as [List] lists them. It
// leaves out databases, and files that cannot be read.
func Sums(sources []Source, all []File) map[string]string {
	sums := map[string]string{}
	for _, s := range sources {
		if s.Database != "" || s.Of != "" { // a companion is a part of the sum of its file
			continue
		}
		folder := In(s.Path)
		for _, f := range all {
			for _, name := range within(s.Name, []string{f.Name}) {
				if sum, err := folder.Sum(name); err == nil {
					sums[f.Name] = sum
				}
			}
		}
	}
	return sums
}

// A stamp tells whether a file is as it was, without reading it: it changes with the file, but also
// without it, when the file is moved or linked.
type stamp struct {
	Size          int64
	Modified      int64 // in ns, as anybody can set it
	Device, Inode uint64
	Changed       int64 // in ns, as the system alone sets it
}

// known are the sums of files that were read, by their stamps.
var known sync.Map

// sumOf returns the sum of one file. It is read once as long as its stamp tells that it is the
// same.
func (d Folder) sumOf(path string) (string, error) {
	var stat unix.Stat_t
	if err := unix.Lstat(path, &stat); err != nil {
		return "", err
	}
	now := stamp{stat.Size, stat.Mtim.Nano(), uint64(stat.Dev), stat.Ino, stat.Ctim.Nano()}
	if sum, ok := known.Load(now); ok {
		return sum.(string), nil
	}
	file, err := d.open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h, read := sha256.New(), io.LimitReader(file, sumWhole) // it may grow meanwhile
	if now.Size > sumWhole {
		read = strings.NewReader(fmt.Sprintf("%d %d\n", now.Size, now.Modified))
		for i := range int64(sumSamples) { // the first at the beginning, the last at the end
			at := (now.Size - sumSample) * i / (sumSamples - 1)
			read = io.MultiReader(read, io.NewSectionReader(file, at, sumSample))
		}
	}
	if _, err = io.Copy(h, read); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	sum := fmt.Sprintf("%x", h.Sum(nil))
	if time.Since(time.Unix(0, now.Changed)) > time.Second {
		known.Store(now, sum) // what changes a file now may leave its stamp, which counts in ticks
	}
	return sum, nil
}

// MostInDigest is the largest number of files of which [Digest] takes the sums.
const MostInDigest = 2000

// Digest is one sum of the names, sizes and sums of files: of more than [MostInDigest] not of their
// sums, which then need not be known.
func Digest(all []File) string {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	h := sha256.New()
	for _, f := range all {
		sum := ""
		if len(all) <= MostInDigest && f.IsWhole() {
			sum = f.Sum
		}
		_, _ = fmt.Fprintf(h, "%q %d %s\n", f.Name, f.Size, sum) // a hash takes everything
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// IsWhole reports whether [Folder.Sum] reads the whole of a file and of its companions.
func (f File) IsWhole() bool {
	large := func(c Companion) bool { return c.Size > sumWhole }
	return f.Size <= sumWhole && !slices.ContainsFunc(f.With, large)
}
