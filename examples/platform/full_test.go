//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// smallDisk is a folder on a disk of its own, with so many bytes.
func smallDisk(t *testing.T, size int) (folder string) {
	t.Helper()
	folder = t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", size)); errors.Is(err,
		syscall.EPERM) {
		t.Skip("only root may mount a small disk")
	} else {
		require.NoError(t, err)
	}
	t.Cleanup(func() { assert.NoError(t, syscall.Unmount(folder, 0)) })
	return folder
}

// Uploads leave room on the disk. If others take the last byte of it, people can still log
// in and delete, and what cannot be stored comes back to who typed it.
func TestAFullDisk(t *testing.T) {
	srv := serve(t, nil)
	const size, room = 32 << 20, 8 << 20
	folder := filepath.Join(smallDisk(t, size), "data")
	reader := open(t, srv, func(c *Config) { c.Folder, c.Limits.Room = folder, room })
	ada := reader.as("ada")
	path, other := ada.draft(fields("Glacier")), ada.draft(fields("Stones"))
	ada.settled(path)
	status, page := ada.upload(path, "large.csv", strings.Repeat("1,2,3,4\n", size/8))
	assert.Equal(t, http.StatusUnprocessableEntity, status)
	assert.Contains(t, page, "The disk of the repository is full")
	free, _, err := reader.platform.store.Disk()
	require.NoError(t, err)
	assert.Greater(t, free, int64(room), "what arrived of it is gone")

	var arrived, uploads sync.WaitGroup
	for range 20 { // files of less than is looked at once, which are all there before one is complete
		arrived.Add(1)
		uploads.Go(func() {
			there := sync.OnceFunc(arrived.Done)
			defer there()
			_, _ = reader.platform.store.Receive("x.csv",
				io.MultiReader(bytes.NewReader(make([]byte, 1900<<10)), waiting(func() {
					there()
					arrived.Wait()
					free, _, err := reader.platform.store.Disk()
					assert.NoError(t, err)
					assert.GreaterOrEqual(t, free, int64(room), "while files arrive")
				})), 4<<20) // an error for those that have no room
		})
	}
	uploads.Wait()

	fill, err := os.Create(filepath.Join(filepath.Dir(folder), "fill"))
	require.NoError(t, err)
	_, err = io.Copy(fill, bytes.NewReader(make([]byte, size)))
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.NoError(t, fill.Close())

	status, page = ada.upload(path, "small.csv", "1")
	assert.Equal(t, http.StatusUnprocessableEntity, status)
	assert.Contains(t, page, "The disk of the repository is full")
	form := fields("A title that is typed while the disk is full")
	for i := 0; status != http.StatusInsufficientStorage; i++ { // the database has a few pages left
		require.Less(t, i, 100)
		form["description"] = strings.Repeat(fmt.Sprintf("%06d", i), 16000)
		status, page = ada.post("/new", form)
	}
	assert.Contains(t, page, "The disk of the repository is full")
	assert.Contains(t, page, form["title"])
	assert.Contains(t, page, form["description"])

	again := reader.again("ada")
	status, page = again.post(path+"/remove", map[string]string{"name": "lengths.csv"})
	assert.Equal(t, http.StatusOK, status, page)
	status, page = again.decide(other+"/discard", nil)
	assert.Equal(t, http.StatusOK, status, page)
	require.NoError(t, os.Remove(fill.Name()))
	status, page = again.upload(path, "small.csv", "1")
	assert.Equal(t, http.StatusOK, status, page)
	_, v := again.now(path)
	assert.Len(t, v.Files, 1)
	require.NoError(t, reader.platform.store.Healthy(t.Context()))
	assert.FileExists(t, filepath.Join(folder, "reserve"))
}

// waiting is the end of an upload, which waits.
type waiting func()

func (w waiting) Read([]byte) (int, error) { w(); return 0, io.EOF }

// Files are added while others are, and while the title changes: nothing of it is lost.
func TestAnUploadContradictsNoEdit(t *testing.T) {
	_, _, c := repository(t)
	path := c.draft(fields("Glacier"))
	_, opened := c.now(path)
	var people sync.WaitGroup
	for i := range 12 {
		people.Go(func() {
			status, page := c.upload(path, fmt.Sprintf("part%d.csv", i), strings.Repeat(fmt.Sprint(i), 1<<20))
			assert.Equal(t, http.StatusOK, status, page)
		})
	}
	form := fields("Glacier length")
	form["revision"] = fmt.Sprint(opened.Revision)
	status, page := c.post(path+"/edit", form)
	assert.Equal(t, http.StatusOK, status, page)
	people.Wait()
	_, v := c.now(path)
	assert.Len(t, v.Files, 13)
	assert.Equal(t, "Glacier length", v.About.Title)
	status, _ = c.post(path+"/edit", form)
	assert.Equal(t, http.StatusConflict, status, "the form was opened before the title changed")
}
