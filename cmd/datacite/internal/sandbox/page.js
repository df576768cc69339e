// The button that resets what the sandbox holds, and its faults.
const reset = document.getElementById('reset')
reset?.addEventListener('click', async () => {
	await fetch('/sandbox/reset', { method: 'POST' })
	location.reload()
})
if (reset) reset.hidden = false

// Buttons that copy the text of the element that they name.
for (const button of document.querySelectorAll('button[data-copies]')) {
	const element = document.getElementById(button.dataset.copies)
	button.hidden = false
	button.addEventListener('click', async () => {
		getSelection().selectAllChildren(element) // so that it can be copied by hand, too
		try {
			await navigator.clipboard.writeText(element.textContent)
			button.textContent = 'Copied'
		} catch {
			button.textContent = 'Selected'
		}
	})
}
